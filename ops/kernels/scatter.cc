// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/scatter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/kernels/scatter_column.h"
#include "ops/kernels/unify_dictionaries.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

namespace {

/// The first output row of each destination, and one past the last of all.
std::vector<int64_t> Begins(std::span<const int32_t> destinations,
                            int32_t num_destinations) {
  std::vector<int64_t> begins(static_cast<size_t>(num_destinations) + 1);
  for (int32_t destination : destinations) ++begins[static_cast<size_t>(destination) + 1];
  for (size_t d = 1; d < begins.size(); ++d) begins[d] += begins[d - 1];
  return begins;
}

/// The output row of every input row; stable.
ScratchVector<uint32_t> Positions(std::span<const int32_t> destinations,
                                  const std::vector<int64_t>& begins) {
  std::vector<uint32_t> next(begins.begin(), begins.end() - 1);
  ScratchVector<uint32_t> positions(destinations.size());
  for (size_t i = 0; i < destinations.size(); ++i) {
    positions[i] = next[static_cast<size_t>(destinations[i])]++;
  }
  return positions;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Reorder(
    const arrow::RecordBatchVector& batches, std::span<const uint32_t> positions,
    arrow::MemoryPool* pool) {
  std::vector<ColumnScatter> columns;
  int64_t num_bytes = 0;
  for (int i = 0; i < batches[0]->num_columns(); ++i) {
    arrow::ArrayDataVector pieces;
    for (const auto& batch : batches) pieces.push_back(batch->column_data(i));
    ARROW_RETURN_NOT_OK(ShareDictionary(&pieces, pool));
    columns.emplace_back(std::move(pieces));
    num_bytes += columns.back().num_bytes();
  }
  // One allocation for all: large enough for the allocator to hand out warm pages.
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> memory,
                        arrow::AllocateBuffer(num_bytes, pool));
  arrow::ArrayVector reordered;
  int64_t at = 0;
  for (const auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(auto values, column.Run(positions, memory, at, pool));
    reordered.push_back(std::move(values));
    at += column.num_bytes();
  }
  return arrow::RecordBatch::Make(
      batches[0]->schema(), static_cast<int64_t>(positions.size()), std::move(reordered));
}

arrow::Result<std::vector<ScatteredRows>> Scatter(const arrow::RecordBatchVector& batches,
                                                  std::span<const int32_t> destinations,
                                                  int32_t num_destinations,
                                                  arrow::MemoryPool* pool) {
  std::vector<ScatteredRows> pieces;
  if (destinations.empty()) return pieces;
  if (destinations.size() > std::numeric_limits<uint32_t>::max()) {
    return arrow::Status::CapacityError("Expected at most 2^32 - 1 rows at a time, got ",
                                        destinations.size());
  }
  const int32_t first = destinations[0];
  if (std::all_of(destinations.begin(), destinations.end(),
                  [first](int32_t destination) { return destination == first; })) {
    for (const auto& batch : batches) {
      if (batch->num_rows() > 0) pieces.push_back({first, batch});
    }
    return pieces;
  }
  const auto begins = Begins(destinations, num_destinations);
  ARROW_ASSIGN_OR_RAISE(auto rows,
                        Reorder(batches, Positions(destinations, begins), pool));
  for (size_t d = 0; d + 1 < begins.size(); ++d) {
    const int64_t count = begins[d + 1] - begins[d];
    if (count == 0) continue;
    pieces.push_back({static_cast<int32_t>(d), rows->Slice(begins[d], count)});
  }
  return pieces;
}

}  // namespace xshards::ops
