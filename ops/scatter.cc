// SPDX-License-Identifier: Apache-2.0
#include "ops/scatter.h"

#include <algorithm>
#include <utility>

#include "ops/gather.h"
#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

/// The rows in order of destination; stable. `next` holds the first position of each
/// destination, and the one past its last afterwards.
std::shared_ptr<arrow::Array> OrderByDestination(const std::vector<int32_t>& destinations,
                                                 std::vector<int64_t>& next) {
  std::vector<int64_t> rows(destinations.size());
  for (size_t i = 0; i < destinations.size(); ++i) {
    const int64_t at = next[static_cast<size_t>(destinations[i])]++;
    rows[static_cast<size_t>(at)] = static_cast<int64_t>(i);
  }
  return ToArray(std::move(rows));
}

}  // namespace

arrow::Result<arrow::RecordBatchVector> Scatter(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::vector<int32_t>& destinations, int32_t num_destinations,
    arrow::MemoryPool* pool) {
  std::vector<int64_t> counts(static_cast<size_t>(num_destinations));
  for (int32_t destination : destinations) ++counts[static_cast<size_t>(destination)];

  arrow::RecordBatchVector pieces(counts.size());
  const auto all = std::find(counts.begin(), counts.end(), batch->num_rows());
  if (all != counts.end()) {
    if (batch->num_rows() > 0) pieces[static_cast<size_t>(all - counts.begin())] = batch;
    return pieces;
  }

  std::vector<int64_t> next(counts.size());
  for (size_t d = 1; d < counts.size(); ++d) next[d] = next[d - 1] + counts[d - 1];
  const auto order = OrderByDestination(destinations, next);
  ARROW_ASSIGN_OR_RAISE(auto rows, Gather(batch, order, pool));
  for (size_t d = 0; d < counts.size(); ++d) {
    if (counts[d] > 0) pieces[d] = rows->Slice(next[d] - counts[d], counts[d]);
  }
  return pieces;
}

}  // namespace xshards::ops
