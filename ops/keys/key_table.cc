// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/key_table.h"

#include <utility>

namespace xshards::ops {

arrow::Status KeyTable::Insert(const arrow::ArrayVector& columns, int64_t num_rows,
                               std::vector<uint32_t>* ids, std::vector<int64_t>* new_rows,
                               arrow::MemoryPool* pool) {
  if (columns.empty()) {
    ids->assign(static_cast<size_t>(num_rows), 0);
    if (num_rows > 0 && !std::exchange(has_empty_key_, true)) new_rows->push_back(0);
    return arrow::Status::OK();
  }
  if (values_.empty()) {
    values_.resize(columns.size());
    pairs_.resize(columns.size() - 1);
  }
  if (columns.size() == 1) return values_[0].Insert(*columns[0], ids, new_rows, pool);
  std::vector<int64_t> ignored;
  std::vector<uint32_t> left;
  std::vector<uint32_t> right;
  ARROW_RETURN_NOT_OK(values_[0].Insert(*columns[0], &left, &ignored, pool));
  for (size_t i = 1; i < columns.size(); ++i) {
    const bool is_last = i + 1 == columns.size();
    ignored.clear();
    ARROW_RETURN_NOT_OK(values_[i].Insert(*columns[i], &right, &ignored, pool));
    ARROW_RETURN_NOT_OK(
        pairs_[i - 1].InsertPairs(left, right, ids, is_last ? new_rows : &ignored));
    left.swap(*ids);
  }
  ids->swap(left);
  return arrow::Status::OK();
}

arrow::Status KeyTable::Find(const arrow::ArrayVector& columns, int64_t num_rows,
                             std::vector<uint32_t>* ids, arrow::MemoryPool* pool) const {
  if (columns.empty() || values_.empty()) {
    ids->assign(static_cast<size_t>(num_rows), has_empty_key_ ? 0 : kNoKey);
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(values_[0].Find(*columns[0], ids, pool));
  std::vector<uint32_t> left;
  std::vector<uint32_t> right;
  for (size_t i = 1; i < columns.size(); ++i) {
    left.swap(*ids);
    ARROW_RETURN_NOT_OK(values_[i].Find(*columns[i], &right, pool));
    pairs_[i - 1].FindPairs(left, right, ids);
  }
  return arrow::Status::OK();
}

uint32_t KeyTable::size() const {
  if (!pairs_.empty()) return pairs_.back().size();
  return values_.empty() ? uint32_t{has_empty_key_} : values_.back().size();
}

int64_t KeyTable::num_bytes() const {
  int64_t bytes = 0;
  for (const auto& table : values_) bytes += table.num_bytes();
  for (const auto& table : pairs_) bytes += table.num_bytes();
  return bytes;
}

}  // namespace xshards::ops
