// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// What is done with a fragment's rows.
enum class SinkKind : uint8_t { kPublish, kPartition, kWrite, kCount };

/// Plain data; travels with the fragment.
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
  /// kRoundRobin: the position of this fragment's first row in the whole, and the
  /// number of rows in the whole.
  int64_t first_row = 0;
  int64_t total_rows = 0;
  /// Also publish the rows as they come: a function runs once, and what it returned may
  /// be asked for again. Rows that cannot be partitioned (no table, a key is missing)
  /// are then only published.
  bool keep_whole = false;

  // kWrite
  std::string format;
  std::map<std::string, std::string> options;
  std::string path;  // of the file to write; written aside and renamed
};

}  // namespace xshards
