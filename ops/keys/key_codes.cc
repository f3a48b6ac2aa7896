// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/key_codes.h"

#include <algorithm>
#include <utility>

#include <arrow/array/concatenate.h>

#include "ops/kernels/gather.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/key_columns.h"

namespace xshards::ops {

namespace {

// Bits per row of a bitmap over all possible key numbers: up to this many cost less than
// a hash table, and a small bitmap always does.
constexpr uint64_t kNumbersPerRow = 64;
constexpr uint64_t kFewNumbers = uint64_t{1} << 18;

}  // namespace

arrow::Status KeyCodes::Add(const arrow::ArrayVector& columns, arrow::MemoryPool* pool) {
  for (size_t i = 0; i < columns.size(); ++i) {
    Column& own = columns_[i];
    std::vector<int64_t> new_rows;
    const size_t begin = own.codes.size();
    own.codes.resize(begin + static_cast<size_t>(columns[i]->length()));
    ARROW_RETURN_NOT_OK(
        own.table.Insert(*columns[i], own.codes.data() + begin, &new_rows, pool));
    if (new_rows.empty()) continue;
    for (int64_t row : new_rows) {
      own.first_rows.push_back(static_cast<uint32_t>(num_rows_ + row));
    }
    auto values = columns[i];
    if (std::ssize(new_rows) < values->length()) {
      ARROW_ASSIGN_OR_RAISE(values, Gather(values, ToArray(std::move(new_rows)), pool));
    }
    ARROW_ASSIGN_OR_RAISE(values, KeyColumn(values, pool));
    own.values.push_back(std::move(values));
  }
  num_rows_ += columns[0]->length();
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> KeyCodes::Values(
    size_t column, arrow::MemoryPool* pool) const {
  return arrow::Concatenate(columns_[column].values, pool);
}

arrow::Result<KeyCodes::Groups> KeyCodes::FindGroups() const {
  const uint64_t max_end = std::min<uint64_t>(
      ValueTable::kNoValue,
      std::max(kFewNumbers, kNumbersPerRow * static_cast<uint64_t>(num_rows_)));
  Groups groups{columns_[0].codes, columns_[0].table.size()};
  for (size_t i = 1; i < columns_.size(); ++i) {
    const uint32_t num_values = columns_[i].table.size();
    if (groups.end * num_values <= max_end) {
      const auto& codes = columns_[i].codes;
      for (size_t row = 0; row < groups.of_row.size(); ++row) {
        groups.of_row[row] = groups.of_row[row] * num_values + codes[row];
      }
      groups.end *= num_values;
      continue;
    }
    ValueTable pairs;
    ScratchVector<uint32_t> ids(groups.of_row.size());
    std::vector<int64_t> new_rows;
    ARROW_RETURN_NOT_OK(
        pairs.InsertPairs(groups.of_row, columns_[i].codes, ids.data(), &new_rows));
    groups = {std::move(ids), pairs.size()};
  }
  return groups;
}

int64_t KeyCodes::num_bytes() const {
  int64_t bytes = 0;
  for (const Column& column : columns_) {
    bytes += column.table.num_bytes() +
             static_cast<int64_t>(column.codes.capacity() * sizeof(uint32_t) +
                                  column.first_rows.capacity() * sizeof(uint32_t));
  }
  return bytes;
}

}  // namespace xshards::ops
