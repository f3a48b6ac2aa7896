// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace xshards::ops {

/// Rows that go to one destination.
struct ScatteredRows {
  int32_t destination;
  std::shared_ptr<arrow::RecordBatch> rows;
};

/// Group the rows of batches of one schema by destination, keeping their order.
/// `destinations` has one entry per row, batch after batch. The result is ordered by
/// destination and omits those without rows. The rows are slices of one reordered copy,
/// in one allocation; if one destination gets all rows, they are the batches themselves.
arrow::Result<std::vector<ScatteredRows>> Scatter(const arrow::RecordBatchVector& batches,
                                                  std::span<const int32_t> destinations,
                                                  int32_t num_destinations,
                                                  arrow::MemoryPool* pool);

/// Move row i, counted over batches of one schema, to row `positions[i]` of one copy;
/// `positions` is a permutation. There is at least one batch.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Reorder(
    const arrow::RecordBatchVector& batches, std::span<const uint32_t> positions,
    arrow::MemoryPool* pool);

}  // namespace xshards::ops
