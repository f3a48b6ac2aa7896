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

/// The keys of some rows by numbers: every column has its distinct values, 0, 1, 2, ...
/// in order of first appearance, and every row the number of its value. For fewer rows
/// than 2^32.
///
/// Keys of columns of few values are then numbers in a small range, which need no hash
/// table to be told apart.
class KeyCodes {
 public:
  explicit KeyCodes(size_t num_columns) : columns_(num_columns) {}

  /// Add rows, the columns being as KeyColumns() gives them.
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
  /// The distinct values of a column, by number, as KeyColumn() gives them.
  arrow::Result<std::shared_ptr<arrow::Array>> Values(size_t column,
                                                      arrow::MemoryPool* pool) const;

  /// Numbers that are equal exactly for rows of equal keys, and all below `end`.
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
    arrow::ArrayVector values;  // the distinct ones, in pieces
  };
  std::vector<Column> columns_;
  int64_t num_rows_ = 0;
};

}  // namespace xshards::ops
