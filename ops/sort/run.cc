// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/run.h"

#include <limits>
#include <utility>

#include <arrow/array/concatenate.h>

#include "ops/kernels/gather.h"
#include "ops/kernels/scatter.h"
#include "ops/sort/order.h"
#include "ops/stream/batch_slicing.h"

namespace xshards::ops {

namespace {

arrow::Result<std::shared_ptr<arrow::Array>> Joined(const arrow::ArrayVector& pieces,
                                                    arrow::MemoryPool* pool) {
  if (pieces.size() == 1) return pieces[0];
  return arrow::Concatenate(pieces, pool);
}

/// The sort columns of all batches, one array per key.
arrow::Result<arrow::ArrayVector> JoinedSortColumns(
    const arrow::RecordBatchVector& batches, const std::vector<SortKey>& keys,
    arrow::MemoryPool* pool) {
  std::vector<arrow::ArrayVector> pieces(keys.size());
  for (const auto& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(auto columns, SortColumns(*batch, keys, pool));
    for (size_t i = 0; i < keys.size(); ++i) pieces[i].push_back(std::move(columns[i]));
  }
  arrow::ArrayVector joined;
  for (const auto& key : pieces) {
    ARROW_ASSIGN_OR_RAISE(auto column, Joined(key, pool));
    joined.push_back(std::move(column));
  }
  return joined;
}

bool IsIdentity(const arrow::Array& order) {
  const auto* rows = static_cast<const arrow::UInt64Array&>(order).raw_values();
  for (int64_t i = 0; i < order.length(); ++i) {
    if (rows[i] != static_cast<uint64_t>(i)) return false;
  }
  return true;
}

/// The first rows, unchanged.
arrow::RecordBatchVector FirstRows(const arrow::RecordBatchVector& batches,
                                   int64_t count) {
  arrow::RecordBatchVector first;
  for (const auto& batch : batches) {
    if (count <= 0) break;
    first.push_back(batch->num_rows() <= count ? batch : batch->Slice(0, count));
    count -= batch->num_rows();
  }
  return first;
}

/// The first rows in sort order, gathered from the concatenated batches.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(
    const arrow::RecordBatchVector& batches, const std::shared_ptr<arrow::Array>& rows,
    arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto joined, Concatenate(batches[0]->schema(), batches, pool));
  return Gather(joined, rows, pool);
}

/// All rows, read sequentially and written to their sorted positions.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> MoveRows(
    const arrow::RecordBatchVector& batches, const arrow::Array& order,
    arrow::MemoryPool* pool) {
  std::vector<uint32_t> positions(static_cast<size_t>(order.length()));
  const auto* rows = static_cast<const arrow::UInt64Array&>(order).raw_values();
  for (size_t i = 0; i < positions.size(); ++i) {
    positions[rows[i]] = static_cast<uint32_t>(i);
  }
  return Reorder(batches, positions, pool);
}

}  // namespace

arrow::Result<arrow::RecordBatchVector> SortRows(const arrow::RecordBatchVector& batches,
                                                 const SortNode& node, int64_t limit,
                                                 const OperatorContext& context) {
  if (batches.empty()) return batches;
  ARROW_ASSIGN_OR_RAISE(auto columns,
                        JoinedSortColumns(batches, node.keys, context.pool));
  ARROW_ASSIGN_OR_RAISE(auto order,
                        SortOrder(columns, node.keys, node.nulls_first, context.pool));
  columns.clear();
  if (IsIdentity(*order)) return FirstRows(batches, limit);
  const bool all =
      order->length() <= limit && order->length() <= std::numeric_limits<uint32_t>::max();
  ARROW_ASSIGN_OR_RAISE(auto rows,
                        all ? MoveRows(batches, *order, context.pool)
                            : GatherRows(batches, order->Slice(0, limit), context.pool));
  BatchSlicer slices(std::move(rows), context.batch_bytes);
  arrow::RecordBatchVector sorted;
  while (auto slice = slices.Next()) sorted.push_back(std::move(slice));
  return sorted;
}

}  // namespace xshards::ops
