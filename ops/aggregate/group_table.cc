// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/group_table.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <arrow/array/concatenate.h>

#include "ops/kernels/decoded_values.h"
#include "ops/kernels/gather.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/key_columns.h"

namespace xshards::ops {

GroupTable::GroupTable(std::vector<int> keys, std::vector<GroupedColumn> columns,
                       bool by_last, arrow::MemoryPool* pool)
    : keys_(std::move(keys)),
      columns_(std::move(columns)),
      by_last_(by_last),
      pool_(pool),
      key_values_(keys_.size()) {}

arrow::Result<std::unique_ptr<GroupTable>> GroupTable::Make(
    std::vector<int> keys, const std::vector<GroupedColumn>& columns, bool by_last,
    arrow::MemoryPool* pool) {
  std::unique_ptr<GroupTable> table(
      new GroupTable(std::move(keys), columns, by_last, pool));
  for (const auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(auto accumulator, MakeAccumulator(column.accumulator));
    accumulator->Resize(static_cast<size_t>(table->num_groups()));
    table->accumulators_.push_back(std::move(accumulator));
  }
  return table;
}

int64_t GroupTable::num_groups() const { return keys_.empty() ? 1 : table_.size(); }

int64_t GroupTable::num_bytes() const {
  int64_t bytes = table_.num_bytes();
  for (const auto& accumulator : accumulators_) bytes += accumulator->num_bytes();
  return bytes + static_cast<int64_t>(last_rows_.capacity() * sizeof(int64_t));
}

arrow::Status GroupTable::FindGroups(const arrow::RecordBatch& batch) {
  if (keys_.empty()) {
    groups_.assign(static_cast<size_t>(batch.num_rows()), 0);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(batch, keys_, pool_));
  std::vector<int64_t> new_rows;
  ARROW_RETURN_NOT_OK(
      table_.Insert(columns, batch.num_rows(), &groups_, &new_rows, pool_));
  if (new_rows.empty()) return arrow::Status::OK();
  if (static_cast<int64_t>(new_rows.size()) == batch.num_rows()) {
    for (size_t i = 0; i < keys_.size(); ++i) {
      key_values_[i].push_back(batch.column(keys_[i]));
    }
    return arrow::Status::OK();
  }
  const auto rows = ToArray(std::move(new_rows));
  for (size_t i = 0; i < keys_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto values, Gather(batch.column(keys_[i]), rows, pool_));
    key_values_[i].push_back(std::move(values));
  }
  return arrow::Status::OK();
}

arrow::Status GroupTable::Consume(const arrow::RecordBatch& batch) {
  if (batch.num_rows() == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(FindGroups(batch));
  if (by_last_) NoteLastRows();
  return Accumulate(batch, num_groups());
}

arrow::Result<std::vector<int64_t>> GroupTable::ConsumeKnown(
    const std::shared_ptr<arrow::RecordBatch>& batch) {
  ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(*batch, keys_, pool_));
  std::vector<uint32_t> ids;
  ARROW_RETURN_NOT_OK(table_.Find(columns, batch->num_rows(), &ids, pool_));
  std::vector<int64_t> known;
  std::vector<int64_t> unknown;
  groups_.clear();
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool is_known = ids[i] != KeyTable::kNoKey;
    (is_known ? known : unknown).push_back(static_cast<int64_t>(i));
    if (is_known) groups_.push_back(ids[i]);
  }
  if (known.empty() || columns_.empty()) return unknown;
  ARROW_ASSIGN_OR_RAISE(auto rows, Gather(batch, ToArray(std::move(known)), pool_));
  ARROW_RETURN_NOT_OK(Accumulate(*rows, num_groups()));
  return unknown;
}

arrow::Result<arrow::ArrayVector> GroupTable::EachRow(const arrow::RecordBatch& batch) {
  groups_.resize(static_cast<size_t>(batch.num_rows()));
  std::iota(groups_.begin(), groups_.end(), uint32_t{0});
  ARROW_RETURN_NOT_OK(Accumulate(batch, batch.num_rows()));
  arrow::ArrayVector columns;
  for (int key : keys_) columns.push_back(batch.column(key));
  for (size_t i = 0; i < columns_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto states, accumulators_[i]->States());
    for (auto& state : states) columns.push_back(std::move(state));
    ARROW_ASSIGN_OR_RAISE(accumulators_[i], MakeAccumulator(columns_[i].accumulator));
  }
  return columns;
}

arrow::Status GroupTable::Accumulate(const arrow::RecordBatch& batch,
                                     int64_t num_groups) {
  // Several aggregates often read one column.
  std::map<int, std::shared_ptr<arrow::Array>> plain;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Accumulator& accumulator = *accumulators_[i];
    accumulator.Resize(static_cast<size_t>(num_groups));
    if (!columns_[i].states.empty()) {
      arrow::ArrayVector states;
      for (int column : columns_[i].states) states.push_back(batch.column(column));
      ARROW_RETURN_NOT_OK(accumulator.Merge(states, groups_));
      continue;
    }
    std::shared_ptr<arrow::Array> values;
    if (const int column = columns_[i].value; column >= 0) {
      auto& known = plain[column];
      if (known == nullptr) {
        ARROW_ASSIGN_OR_RAISE(known, PlainValues(batch.column(column), pool_));
      }
      values = known;
    }
    ARROW_RETURN_NOT_OK(accumulator.Consume(values, groups_));
  }
  return arrow::Status::OK();
}

void GroupTable::NoteLastRows() {
  last_rows_.resize(static_cast<size_t>(num_groups()));
  for (uint32_t group : groups_) last_rows_[group] = num_rows_++;
}

std::shared_ptr<arrow::Array> GroupTable::OrderByLastRow() const {
  std::vector<int64_t> order(last_rows_.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [this](int64_t left, int64_t right) {
    return last_rows_[static_cast<size_t>(left)] < last_rows_[static_cast<size_t>(right)];
  });
  return ToArray(std::move(order));
}

arrow::Result<arrow::ArrayVector> GroupTable::Finish() {
  return Take(/*as_states=*/false);
}

arrow::Result<arrow::ArrayVector> GroupTable::States() {
  return Take(/*as_states=*/true);
}

arrow::Result<arrow::ArrayVector> GroupTable::Take(bool as_states) {
  arrow::ArrayVector columns;
  for (auto& chunks : key_values_) {
    ARROW_ASSIGN_OR_RAISE(auto values, arrow::Concatenate(chunks, pool_));
    chunks.clear();
    columns.push_back(std::move(values));
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (as_states) {
      ARROW_ASSIGN_OR_RAISE(auto states, accumulators_[i]->States());
      for (auto& state : states) columns.push_back(std::move(state));
    } else {
      ARROW_ASSIGN_OR_RAISE(auto result, accumulators_[i]->Finish());
      columns.push_back(std::move(result));
    }
    accumulators_[i].reset();
  }
  if (by_last_) {
    const auto order = OrderByLastRow();
    for (auto& column : columns) {
      ARROW_ASSIGN_OR_RAISE(column, Gather(column, order, pool_));
    }
  }
  return columns;
}

}  // namespace xshards::ops
