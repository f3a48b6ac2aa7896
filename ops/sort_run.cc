// SPDX-License-Identifier: Apache-2.0
#include "ops/sort_run.h"

#include <algorithm>
#include <utility>

#include <arrow/array/concatenate.h>

#include "ops/batches.h"
#include "ops/gather.h"
#include "ops/sort_order.h"

namespace xshards::ops {

namespace {

arrow::Result<std::shared_ptr<arrow::Array>> Joined(const arrow::ArrayVector& pieces,
                                                    arrow::MemoryPool* pool) {
  if (pieces.size() == 1) return pieces[0];
  return arrow::Concatenate(pieces, pool);
}

/// The sort columns of all batches, one array a key.
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

/// The first rows, as they are.
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

/// The rows of `order`, `step` to a batch. A column at a time, so that only one is ever
/// joined, in memory that the next uses again.
arrow::Result<arrow::RecordBatchVector> GatherInSteps(
    const arrow::RecordBatchVector& batches, const std::shared_ptr<arrow::Array>& order,
    int64_t step, const OperatorContext& context) {
  const auto schema = batches[0]->schema();
  const int64_t num_steps = (order->length() + step - 1) / step;
  std::vector<arrow::ArrayVector> gathered(static_cast<size_t>(num_steps));
  for (int i = 0; i < schema->num_fields(); ++i) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    arrow::ArrayVector pieces;
    for (const auto& batch : batches) pieces.push_back(batch->column(i));
    ARROW_ASSIGN_OR_RAISE(auto column, Joined(pieces, context.pool));
    for (size_t s = 0; s < gathered.size(); ++s) {
      const auto rows = order->Slice(static_cast<int64_t>(s) * step, step);
      ARROW_ASSIGN_OR_RAISE(auto values, Gather(column, rows, context.pool));
      gathered[s].push_back(std::move(values));
    }
  }
  arrow::RecordBatchVector sorted;
  for (size_t s = 0; s < gathered.size(); ++s) {
    const int64_t rows = std::min(step, order->length() - static_cast<int64_t>(s) * step);
    sorted.push_back(arrow::RecordBatch::Make(schema, rows, std::move(gathered[s])));
  }
  return sorted;
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
  return GatherInSteps(batches, order->Slice(0, limit),
                       RowsWithin(*batches[0], context.batch_bytes), context);
}

}  // namespace xshards::ops
