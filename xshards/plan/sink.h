// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// What a fragment does with its rows.
enum class SinkKind : uint8_t { kPublish, kPartition, kWrite, kCount };

/// Plain data; sent with the fragment.
struct SinkSpec {
  SinkKind kind = SinkKind::kPublish;
  Storage storage = Storage::kHeap;  // kPublish, kPartition: where output goes

  // kPartition
  ExchangeMode mode = ExchangeMode::kHash;
  std::vector<std::string> keys;
  int32_t num_partitions = 1;
  /// kRange: one row per boundary, one column per sort key, ascending in sort order; a
  /// row goes to the number of boundaries that are at or before it.
  std::vector<SortKey> sort_keys;
  bool nulls_first = false;
  std::shared_ptr<arrow::RecordBatch> boundaries;
  /// kRoundRobin: the global position of this fragment's first row, and the total number
  /// of rows.
  int64_t first_row = 0;
  int64_t total_rows = 0;
  /// Also publish the rows unpartitioned: a function runs once, and its output may be
  /// needed again. Rows that cannot be partitioned (not a table, a key is missing) are
  /// then only published.
  bool keep_whole = false;

  // kWrite
  std::string format;
  FormatOptionsPointer options;
  /// Write a file for each combination of the values of these columns, in folders named
  /// after them; unset: one file.
  std::optional<std::vector<std::string>> partition_cols;
  std::string path;  // of the file to write; written to a temporary name and renamed
};

}  // namespace xshards
