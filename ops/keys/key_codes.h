// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "ops/keys/value_table.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// Dictionary codes of key rows: each column numbers its distinct values 0, 1, 2, ... in
/// order of first appearance, and each row has the number of its value. For fewer than
/// 2^32 rows.
///
/// Keys of columns with few values are then numbers in a small range, which can be
/// distinguished without a hash table.
class KeyCodes {
 public:
  explicit KeyCodes(size_t num_columns) : columns_(num_columns) {}

  /// Add rows; the columns are those of KeyColumns().
  arrow::Status Add(const arrow::ArrayVector& columns, arrow::MemoryPool* pool);

  int64_t num_rows() const { return num_rows_; }
  int64_t num_values(size_t column) const { return columns_[column].table.size(); }
  const ScratchVector<uint32_t>& codes(size_t column) const {
    return columns_[column].codes;
  }
  /// The first row of each value of a column, by number.
  const ScratchVector<uint32_t>& first_rows(size_t column) const {
    return columns_[column].first_rows;
  }
  /// The distinct values of a column, by number, in the form of KeyColumn().
  arrow::Result<std::shared_ptr<arrow::Array>> Values(size_t column,
                                                      arrow::MemoryPool* pool) const;

  /// Numbers below `end` that are equal exactly for rows of equal keys.
  struct Groups {
    ScratchVector<uint32_t> of_row;
    uint64_t end = 0;
  };
  arrow::Result<Groups> FindGroups() const;

  /// Memory it holds outside the pool.
  int64_t num_bytes() const;

 private:
  struct Column {
    ValueTable table;
    ScratchVector<uint32_t> codes;  // by row
    ScratchVector<uint32_t> first_rows;
    arrow::ArrayVector values;  // the distinct ones, in chunks
  };
  std::vector<Column> columns_;
  int64_t num_rows_ = 0;
};

}  // namespace xshards::ops
