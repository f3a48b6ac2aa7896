// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// Choose keys that cut the rows of `partitions` into `num_ranges` ranges of about equal
/// size, from a sample: at most num_ranges - 1 rows of the sort keys, in sort order.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> ChooseBoundaries(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const std::shared_ptr<arrow::Schema>& schema, int num_ranges,
    arrow::MemoryPool* pool);

/// Which rows of partitions are looked at.
enum class RowsSeen : uint8_t {
  kSample,  // a few of every block: what is said of all is likely
  kEnds,    // the first and the last of every partition
};

/// Whether the rows seen are in sort order as they lie, one partition after the other.
XSHARDS_EXPORT arrow::Result<bool> AreInOrder(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const std::shared_ptr<arrow::Schema>& schema, RowsSeen seen, arrow::MemoryPool* pool);

}  // namespace xshards
