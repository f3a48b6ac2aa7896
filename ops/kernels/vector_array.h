// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

namespace xshards::ops {

/// An array of numbers from a vector, without a copy.
template <typename T>
std::shared_ptr<arrow::Array> ToArray(std::vector<T> values) {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  const auto length = static_cast<int64_t>(values.size());
  return std::make_shared<ArrayType>(length,
                                     arrow::Buffer::FromVector(std::move(values)));
}

/// A copy in memory of the pool, which accounts for it: for long-lived arrays.
template <typename T>
arrow::Result<std::shared_ptr<arrow::Array>> CopyToArray(const std::vector<T>& values,
                                                         arrow::MemoryPool* pool) {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(static_cast<int64_t>(values.size() * sizeof(T)), pool));
  std::copy(values.begin(), values.end(), buffer->mutable_data_as<T>());
  return std::make_shared<ArrayType>(static_cast<int64_t>(values.size()),
                                     std::move(buffer));
}

/// ToArray with nulls where `is_null(i)`.
template <typename T, typename IsNull>
arrow::Result<std::shared_ptr<arrow::Array>> ToArray(std::vector<T> values,
                                                     IsNull&& is_null,
                                                     arrow::MemoryPool* pool) {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  const auto length = static_cast<int64_t>(values.size());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity,
                        arrow::AllocateEmptyBitmap(length, pool));
  int64_t null_count = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (is_null(static_cast<size_t>(i))) {
      ++null_count;
    } else {
      arrow::bit_util::SetBit(validity->mutable_data(), i);
    }
  }
  return std::make_shared<ArrayType>(length, arrow::Buffer::FromVector(std::move(values)),
                                     std::move(validity), null_count);
}

}  // namespace xshards::ops
