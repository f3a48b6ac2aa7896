// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::ops {

/// The number of rows like these in about `bytes`; at least 1.
int64_t RowsWithin(const arrow::RecordBatch& batch, int64_t bytes);

/// Concatenate batches of one schema; zero copy for a single batch.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    const std::shared_ptr<arrow::Schema>& schema, arrow::RecordBatchVector batches,
    arrow::MemoryPool* pool);

/// Let cold data be spilled before an executor allocates more.
arrow::Status MakeRoom(const OperatorContext& context, int64_t wanted = 0);

/// Slices a batch into pieces of about the context's batch size; zero copy.
class BatchSlicer {
 public:
  BatchSlicer() = default;
  BatchSlicer(std::shared_ptr<arrow::RecordBatch> batch, int64_t bytes)
      : batch_(std::move(batch)), step_(RowsWithin(*batch_, bytes)) {}
  /// Slices of `num_rows` rows, except the last.
  static BatchSlicer OfRows(std::shared_ptr<arrow::RecordBatch> batch, int64_t num_rows);

  /// The next piece, or nullptr after the last.
  std::shared_ptr<arrow::RecordBatch> Next();

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t step_ = 1;
  int64_t position_ = 0;
};

/// Makes batches of a useful size: a large one is forwarded, since concatenating it would
/// only copy it; consecutive small ones are concatenated.
class BatchCoalescer {
 public:
  using NextBatch = std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>()>;

  /// Batches of half of `target_bytes` are large.
  BatchCoalescer(int64_t target_bytes, arrow::MemoryPool* pool)
      : target_bytes_(target_bytes), pool_(pool) {}

  /// The next rows of the batches that `next` returns until nullptr (it may be called
  /// again after that); nullptr after the last.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next(const NextBatch& next);

 private:
  const int64_t target_bytes_;
  arrow::MemoryPool* const pool_;
  arrow::RecordBatchVector small_;
  int64_t small_bytes_ = 0;
  std::shared_ptr<arrow::RecordBatch> large_;  // came after small_
};

}  // namespace xshards::ops
