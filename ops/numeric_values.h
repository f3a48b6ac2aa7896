// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/result.h>
#include <arrow/type_traits.h>

namespace xshards::ops {

/// Numbers of any type as T, rounding where T is coarser; zero copy if they are T.
template <typename T>
arrow::Result<std::shared_ptr<typename arrow::CTypeTraits<T>::ArrayType>> NumericValues(
    const std::shared_ptr<arrow::Array>& values, arrow::MemoryPool* pool) {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  const auto type = arrow::CTypeTraits<T>::type_singleton();
  if (values->type()->Equals(*type)) return std::static_pointer_cast<ArrayType>(values);
  arrow::compute::ExecContext exec(pool);
  ARROW_ASSIGN_OR_RAISE(
      auto cast,
      arrow::compute::Cast(*values, type, arrow::compute::CastOptions::Unsafe(), &exec));
  return std::static_pointer_cast<ArrayType>(cast);
}

/// Call visit(row) for every row that is not null.
template <typename Visit>
void ForEachValid(const arrow::Array& array, Visit&& visit) {
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < array.length(); ++i) visit(i);
    return;
  }
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i)) visit(i);
  }
}

}  // namespace xshards::ops
