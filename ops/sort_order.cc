// SPDX-License-Identifier: Apache-2.0
#include "ops/sort_order.h"

#include <string>
#include <utility>

#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "ops/key_columns.h"
#include "ops/plain_values.h"
#include "xshards/pandas_dtype.h"

namespace xshards::ops {

arrow::Result<arrow::ArrayVector> SortColumns(const arrow::RecordBatch& batch,
                                              const std::vector<SortKey>& keys,
                                              arrow::MemoryPool* pool) {
  arrow::ArrayVector columns;
  for (const auto& key : keys) {
    ARROW_ASSIGN_OR_RAISE(auto found, FindColumns(*batch.schema(), {key.column}));
    const int at = found[0];
    ARROW_ASSIGN_OR_RAISE(auto column,
                          SortValues(batch.column(at), *batch.schema()->field(at), pool));
    ARROW_ASSIGN_OR_RAISE(column, PlainValues(column, pool));
    columns.push_back(std::move(column));
  }
  return columns;
}

arrow::Result<std::shared_ptr<arrow::Array>> SortOrder(const arrow::ArrayVector& columns,
                                                       const std::vector<SortKey>& keys,
                                                       bool nulls_first,
                                                       arrow::MemoryPool* pool) {
  namespace compute = arrow::compute;
  const auto placement =
      nulls_first ? compute::NullPlacement::AtStart : compute::NullPlacement::AtEnd;
  arrow::FieldVector fields;
  std::vector<compute::SortKey> sort_keys;
  for (size_t i = 0; i < columns.size(); ++i) {
    // By position: a column may be sorted by twice.
    fields.push_back(arrow::field(std::to_string(i), columns[i]->type()));
    sort_keys.emplace_back(arrow::FieldRef(static_cast<int>(i)),
                           keys[i].ascending ? compute::SortOrder::Ascending
                                             : compute::SortOrder::Descending,
                           placement);
  }
  compute::ExecContext exec(pool);
  exec.set_use_threads(false);
  auto order =
      compute::SortIndices(arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                                    columns[0]->length(), columns),
                           compute::SortOptions(std::move(sort_keys)), &exec);
  if (order.ok()) return order;
  std::string names;
  for (size_t i = 0; i < keys.size(); ++i) {
    names += (i == 0 ? "'" : ", '") + keys[i].column + "' (" +
             columns[i]->type()->ToString() + ")";
  }
  return order.status().WithMessage("Cannot sort by ", names, ": ",
                                    order.status().message());
}

}  // namespace xshards::ops
