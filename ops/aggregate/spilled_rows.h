// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/storage/block_store.h"
#include "xshards/storage/partition.h"

namespace xshards::ops {

/// Rows that do not fit in memory: kept on disk, partitioned by key into kNumParts parts,
/// to be processed part by part.
class SpilledRows {
 public:
  static constexpr int32_t kNumParts = 16;

  /// `level` is how often the rows have been spilled before: each level partitions them
  /// differently.
  SpilledRows(std::vector<std::string> keys, int level, OperatorContext& context);

  /// Add rows; those of a part keep their order.
  arrow::Status Append(std::shared_ptr<arrow::RecordBatch> rows);
  /// The parts; called once, at the end.
  arrow::Result<std::vector<Partition>> Finish();

 private:
  arrow::Status Flush();

  const std::vector<std::string> keys_;
  const uint64_t salt_;
  OperatorContext& context_;
  BlockWriter writer_;
  arrow::RecordBatchVector pending_;
  int64_t pending_bytes_ = 0;
};

}  // namespace xshards::ops
