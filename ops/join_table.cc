// SPDX-License-Identifier: Apache-2.0
#include "ops/join_table.h"

#include <utility>

#include "ops/key_columns.h"

namespace xshards::ops {

JoinTable::JoinTable(std::shared_ptr<arrow::RecordBatch> rows, arrow::MemoryPool* pool)
    : rows_(std::move(rows)), pool_(pool) {}

arrow::Result<std::unique_ptr<JoinTable>> JoinTable::Make(
    std::shared_ptr<arrow::RecordBatch> rows, const std::vector<int>& keys,
    arrow::MemoryPool* pool) {
  std::unique_ptr<JoinTable> table(new JoinTable(std::move(rows), pool));
  ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(*table->rows_, keys, pool));
  std::vector<int64_t> new_rows;
  ARROW_RETURN_NOT_OK(table->table_.Insert(columns, table->rows_->num_rows(),
                                           &table->ids_, &new_rows, pool));
  table->GroupRows();
  return table;
}

void JoinTable::GroupRows() {
  starts_.assign(size_t{num_keys()} + 1, 0);
  for (uint32_t id : ids_) ++starts_[id + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
  by_key_.resize(ids_.size());
  for (size_t row = 0; row < ids_.size(); ++row) {
    by_key_[next[ids_[row]]++] = static_cast<int64_t>(row);
  }
}

arrow::Status JoinTable::Find(const arrow::RecordBatch& batch,
                              const std::vector<int>& keys,
                              std::vector<uint32_t>* ids) const {
  ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(batch, keys, pool_));
  return table_.Find(columns, batch.num_rows(), ids, pool_);
}

std::span<const int64_t> JoinTable::Matches(uint32_t id) const {
  if (id == KeyTable::kNoKey) return {};
  return {by_key_.data() + starts_[id], starts_[id + 1] - starts_[id]};
}

std::vector<int64_t> JoinTable::Unmarked(const std::vector<uint8_t>& marks) const {
  std::vector<int64_t> rows;
  for (size_t row = 0; row < ids_.size(); ++row) {
    if (marks[ids_[row]] == 0) rows.push_back(static_cast<int64_t>(row));
  }
  return rows;
}

int64_t JoinTable::num_bytes() const {
  return table_.num_bytes() + static_cast<int64_t>(ids_.capacity() * sizeof(uint32_t) +
                                                   starts_.capacity() * sizeof(size_t) +
                                                   by_key_.capacity() * sizeof(int64_t));
}

}  // namespace xshards::ops
