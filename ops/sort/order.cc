// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/order.h"

#include <algorithm>
#include <utility>

#include <arrow/compute/cast.h>

#include "ops/kernels/decoded_values.h"
#include "ops/keys/key_columns.h"
#include "ops/sort/comparator.h"
#include "ops/sort/normalized_keys.h"
#include "ops/sort/radix_sort.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::ops {

namespace {

/// Types are sorted as a simpler type of the same order, if there is one.
arrow::Result<std::shared_ptr<arrow::Array>> Sortable(
    std::shared_ptr<arrow::Array> column, arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::DataType> type;
  switch (column->type_id()) {
    case arrow::Type::HALF_FLOAT:
      type = arrow::float32();
      break;
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      type = arrow::large_binary();
      break;
    default:
      return column;
  }
  arrow::compute::ExecContext exec(pool);
  exec.set_use_threads(false);
  return arrow::compute::Cast(*column, type, arrow::compute::CastOptions::Safe(), &exec);
}

/// Sort rows of equal words by the keys that the words do not decide.
arrow::Status SortTies(const arrow::ArrayVector& columns,
                       const std::vector<SortKey>& keys, bool nulls_first,
                       size_t first_open_key, std::vector<WordRow>& rows) {
  ARROW_ASSIGN_OR_RAISE(auto comparator,
                        SortComparator::Make(columns, columns, keys, nulls_first));
  const auto is_less = [&](const WordRow& a, const WordRow& b) {
    const int order = comparator.Compare(static_cast<int64_t>(a.row),
                                         static_cast<int64_t>(b.row), first_open_key);
    return order != 0 ? order < 0 : a.row < b.row;
  };
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(
        begin, rows.end(), [&](const WordRow& row) { return row.word != begin->word; });
    if (end - begin > 1 && !std::is_sorted(begin, end, is_less)) {
      std::sort(begin, end, is_less);
    }
    begin = end;
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<arrow::ArrayVector> SortColumns(const arrow::RecordBatch& batch,
                                              const std::vector<SortKey>& keys,
                                              arrow::MemoryPool* pool) {
  arrow::ArrayVector columns;
  for (const auto& key : keys) {
    ARROW_ASSIGN_OR_RAISE(auto found, FindColumns(*batch.schema(), {key.column}));
    const int at = found[0];
    ARROW_ASSIGN_OR_RAISE(auto column,
                          SortValues(batch.column(at), *batch.schema()->field(at), pool));
    ARROW_ASSIGN_OR_RAISE(column, Sortable(std::move(column), pool));
    ARROW_ASSIGN_OR_RAISE(column, PlainValues(column, pool));
    columns.push_back(std::move(column));
  }
  return columns;
}

arrow::Result<std::shared_ptr<arrow::Array>> SortOrder(const arrow::ArrayVector& columns,
                                                       const std::vector<SortKey>& keys,
                                                       bool nulls_first,
                                                       arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto packed, SortWords::Make({&columns, 1}, keys, nulls_first));
  std::vector<WordRow> rows;
  {
    const auto words = packed.Encode(columns);
    rows.resize(words.size());
    for (size_t i = 0; i < words.size(); ++i) rows[i] = {words[i], i};
  }
  RadixSort(rows, packed.num_bits());
  if (packed.first_open_key() < keys.size()) {
    ARROW_RETURN_NOT_OK(
        SortTies(columns, keys, nulls_first, packed.first_open_key(), rows));
  }
  const auto length = static_cast<int64_t>(rows.size());
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> order,
      arrow::AllocateBuffer(length * static_cast<int64_t>(sizeof(uint64_t)), pool));
  auto* numbers = order->mutable_data_as<uint64_t>();
  for (size_t i = 0; i < rows.size(); ++i) numbers[i] = rows[i].row;
  return std::make_shared<arrow::UInt64Array>(length, std::move(order));
}

}  // namespace xshards::ops
