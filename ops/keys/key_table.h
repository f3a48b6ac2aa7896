// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/array.h>
#include <arrow/status.h>

#include "ops/keys/value_table.h"

namespace xshards::ops {

/// Numbers distinct keys of one or more columns 0, 1, 2, ... in order of first
/// appearance. The columns are those of KeyColumns(); their number is the same in every
/// call.
class KeyTable {
 public:
  static constexpr uint32_t kNoKey = ValueTable::kNoValue;

  /// Give every row the number of its key, adding keys not seen before; the rows at
  /// which those appeared are appended to `new_rows`. CapacityError past 2^32 - 1 keys.
  arrow::Status Insert(const arrow::ArrayVector& columns, int64_t num_rows,
                       std::vector<uint32_t>* ids, std::vector<int64_t>* new_rows,
                       arrow::MemoryPool* pool);
  /// Give every row the number of its key, or kNoKey.
  arrow::Status Find(const arrow::ArrayVector& columns, int64_t num_rows,
                     std::vector<uint32_t>* ids, arrow::MemoryPool* pool) const;

  uint32_t size() const;
  /// The memory it uses.
  int64_t num_bytes() const;

 private:
  // Each column numbers its values, and each pair (number of the preceding columns,
  // number of this column) is numbered again: the last of these numbers are the keys'.
  std::vector<ValueTable> values_;
  std::vector<ValueTable> pairs_;
  bool has_empty_key_ = false;  // no columns, but rows
};

}  // namespace xshards::ops
