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

/// Choose keys that split the rows of `partitions` into `num_ranges` ranges of about
/// equal size, from a sample: at most num_ranges - 1 rows of the sort keys, in sort
/// order.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> ChooseBoundaries(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const std::shared_ptr<arrow::Schema>& schema, int num_ranges,
    arrow::MemoryPool* pool);

/// Which rows of partitions are checked.
enum class RowsSeen : uint8_t {
  kSample,  // a few of every block: the answer is likely, not certain
  kEnds,    // the first and the last of every partition
};

/// Whether the checked rows are in sort order, within and across partitions.
XSHARDS_EXPORT arrow::Result<bool> AreInOrder(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const std::shared_ptr<arrow::Schema>& schema, RowsSeen seen, arrow::MemoryPool* pool);

}  // namespace xshards
