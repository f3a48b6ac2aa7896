// SPDX-License-Identifier: Apache-2.0
#include "ops/exchange/range_partition.h"

#include <algorithm>
#include <array>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/cast.h>

#include "ops/kernels/decoded_values.h"
#include "ops/kernels/gather.h"
#include "ops/sort/comparator.h"
#include "ops/sort/normalized_keys.h"
#include "ops/sort/order.h"

namespace xshards::ops {

namespace {

// Boundaries may distinguish NaN from null; here both are missing. Boundaries are cast to
// the types of the rows they are compared with.
arrow::Result<arrow::ArrayVector> InOrder(const arrow::RecordBatch& boundaries,
                                          const arrow::ArrayVector& rows,
                                          const std::vector<SortKey>& keys,
                                          bool nulls_first, arrow::MemoryPool* pool) {
  arrow::ArrayVector columns;
  for (size_t i = 0; i < rows.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto values,
                          PlainValues(boundaries.column(static_cast<int>(i)), pool));
    if (!values->type()->Equals(*rows[i]->type())) {
      ARROW_ASSIGN_OR_RAISE(values, arrow::compute::Cast(*values, rows[i]->type()));
    }
    columns.push_back(std::move(values));
  }
  ARROW_ASSIGN_OR_RAISE(auto order, SortOrder(columns, keys, nulls_first, pool));
  for (auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(column, Gather(column, order, pool));
  }
  return columns;
}

}  // namespace

arrow::Result<std::vector<int32_t>> RangeDestinations(
    const arrow::RecordBatch& batch, const std::vector<SortKey>& keys, bool nulls_first,
    const arrow::RecordBatch& boundaries, arrow::MemoryPool* pool) {
  if (keys.empty() || boundaries.num_columns() != static_cast<int>(keys.size())) {
    return arrow::Status::Invalid("Expected boundaries with one column for each of ",
                                  keys.size(), " sort keys, got ",
                                  boundaries.num_columns());
  }
  ARROW_ASSIGN_OR_RAISE(auto columns, SortColumns(batch, keys, pool));
  ARROW_ASSIGN_OR_RAISE(auto limits,
                        InOrder(boundaries, columns, keys, nulls_first, pool));
  const std::array<arrow::ArrayVector, 2> inputs = {columns, limits};
  ARROW_ASSIGN_OR_RAISE(auto packed, SortWords::Make(inputs, keys, nulls_first));
  ARROW_ASSIGN_OR_RAISE(auto comparator,
                        SortComparator::Make(columns, limits, keys, nulls_first));
  const auto limit_words = packed.Encode(limits);
  const auto words = packed.Encode(columns);
  const bool is_exact = packed.first_open_key() == keys.size();
  std::vector<int32_t> destinations(words.size());
  for (size_t row = 0; row < words.size(); ++row) {
    auto limit = std::upper_bound(limit_words.begin(), limit_words.end(), words[row]);
    // Of the boundaries with the row's word, those after the row do not count.
    while (!is_exact && limit != limit_words.begin() && *(limit - 1) == words[row] &&
           comparator.Compare(static_cast<int64_t>(row), limit - 1 - limit_words.begin(),
                              packed.first_open_key()) < 0) {
      --limit;
    }
    destinations[row] = static_cast<int32_t>(limit - limit_words.begin());
  }
  return destinations;
}

}  // namespace xshards::ops
