// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <arrow/array/array_dict.h>
#include <arrow/array/array_primitive.h>
#include <arrow/util/bit_util.h>

namespace xshards {

/// Call visit(row, place) for every row of a dictionary array: the index of its value in
/// the dictionary, or the dictionary's length for null.
template <typename Visit>
void ForEachPlace(const arrow::DictionaryArray& column, Visit&& visit) {
  const auto& indices = *column.indices();
  const auto end = static_cast<size_t>(column.dictionary()->length());
  if (indices.type_id() != arrow::Type::INT32) {
    for (int64_t row = 0; row < column.length(); ++row) {
      visit(row,
            column.IsNull(row) ? end : static_cast<size_t>(column.GetValueIndex(row)));
    }
    return;
  }
  const int32_t* places = static_cast<const arrow::Int32Array&>(indices).raw_values();
  if (indices.null_count() == 0) {
    for (int64_t row = 0; row < column.length(); ++row) {
      visit(row, static_cast<size_t>(places[row]));
    }
    return;
  }
  const uint8_t* bits = indices.null_bitmap_data();
  for (int64_t row = 0; row < column.length(); ++row) {
    const bool is_valid =
        arrow::bit_util::GetBit(bits, static_cast<uint64_t>(indices.offset() + row));
    visit(row, is_valid ? static_cast<size_t>(places[row]) : end);
  }
}

}  // namespace xshards
