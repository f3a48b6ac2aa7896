// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/decoded_values.h"

#include <cmath>
#include <utility>

#include <arrow/array/data.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "xshards/types/dictionary_encoding.h"

namespace xshards::ops {

namespace {

template <typename T>
bool HasNaN(const T* values, int64_t length) {
  // Counted without an early exit, so that the loop vectorises.
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i) count += values[i] != values[i];
  return count > 0;
}

template <typename T>
arrow::Result<std::shared_ptr<arrow::Array>> NaNToNull(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool) {
  const arrow::ArrayData& data = *column->data();
  const T* values = data.GetValues<T>(1);
  if (!HasNaN(values, data.length)) return column;
  std::shared_ptr<arrow::Buffer> validity;
  // The copy starts at bit `offset` too, so that the values need not move.
  const int64_t num_bits = data.offset + data.length;
  if (column->null_bitmap_data() != nullptr) {
    ARROW_ASSIGN_OR_RAISE(validity, arrow::internal::CopyBitmap(
                                        pool, column->null_bitmap_data(), 0, num_bits));
  } else {
    ARROW_ASSIGN_OR_RAISE(validity, arrow::AllocateBitmap(num_bits, pool));
    arrow::bit_util::SetBitsTo(validity->mutable_data(), 0, num_bits, true);
  }
  uint8_t* bits = validity->mutable_data();
  for (int64_t i = 0; i < data.length; ++i) {
    if (values[i] != values[i]) arrow::bit_util::ClearBit(bits, data.offset + i);
  }
  return arrow::MakeArray(arrow::ArrayData::Make(data.type, data.length,
                                                 {std::move(validity), data.buffers[1]},
                                                 arrow::kUnknownNullCount, data.offset));
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> Decode(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool) {
  switch (column->type_id()) {
    case arrow::Type::DICTIONARY:
      return DecodeValues(static_cast<const arrow::DictionaryArray&>(*column), pool);
    case arrow::Type::RUN_END_ENCODED: {
      arrow::compute::ExecContext exec(pool);
      ARROW_ASSIGN_OR_RAISE(auto values, arrow::compute::RunEndDecode(column, &exec));
      return values.make_array();
    }
    default:
      return column;
  }
}

std::shared_ptr<arrow::DataType> DecodedType(
    const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case arrow::Type::DICTIONARY:
      return static_cast<const arrow::DictionaryType&>(*type).value_type();
    case arrow::Type::RUN_END_ENCODED:
      return static_cast<const arrow::RunEndEncodedType&>(*type).value_type();
    default:
      return type;
  }
}

arrow::Result<std::shared_ptr<arrow::Array>> PlainValues(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto values, Decode(column, pool));
  switch (values->type_id()) {
    case arrow::Type::FLOAT:
      return NaNToNull<float>(values, pool);
    case arrow::Type::DOUBLE:
      return NaNToNull<double>(values, pool);
    default:
      return values;
  }
}

}  // namespace xshards::ops
