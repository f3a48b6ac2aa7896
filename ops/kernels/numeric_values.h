// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/result.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_run_reader.h>

#include "ops/kernels/decimal_values.h"

namespace xshards::ops {

/// True for times and durations, which are counts of ticks.
inline bool IsTime(const arrow::DataType& type) {
  return type.id() == arrow::Type::TIMESTAMP || type.id() == arrow::Type::DURATION;
}

/// Numbers of any type as T, rounded if T is less precise, and times as their ticks; zero
/// copy if they are T.
template <typename T>
arrow::Result<std::shared_ptr<typename arrow::CTypeTraits<T>::ArrayType>> NumericValues(
    const std::shared_ptr<arrow::Array>& values, arrow::MemoryPool* pool) {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  const auto type = arrow::CTypeTraits<T>::type_singleton();
  auto numbers = values;
  if (IsTime(*values->type())) {
    ARROW_ASSIGN_OR_RAISE(numbers, values->View(arrow::int64()));
  } else if (values->type_id() == arrow::Type::DECIMAL128) {
    ARROW_ASSIGN_OR_RAISE(numbers, DecimalsToDoubles(values, pool));
  }
  if (numbers->type()->Equals(*type)) {
    return std::static_pointer_cast<ArrayType>(numbers);
  }
  arrow::compute::ExecContext exec(pool);
  ARROW_ASSIGN_OR_RAISE(
      auto cast,
      arrow::compute::Cast(*numbers, type, arrow::compute::CastOptions::Unsafe(), &exec));
  return std::static_pointer_cast<ArrayType>(cast);
}

/// Numbers as the type of a result; a time is truncated to whole ticks.
inline arrow::Result<std::shared_ptr<arrow::Array>> FromNumbers(
    std::shared_ptr<arrow::Array> numbers, const std::shared_ptr<arrow::DataType>& type,
    arrow::MemoryPool* pool) {
  arrow::compute::ExecContext exec(pool);
  const auto options = arrow::compute::CastOptions::Unsafe();
  if (IsTime(*type)) {
    ARROW_ASSIGN_OR_RAISE(numbers,
                          arrow::compute::Cast(*numbers, arrow::int64(), options, &exec));
  }
  return arrow::compute::Cast(*numbers, type, options, &exec);
}

/// Call visit(begin, end) for every run of rows that are not null.
template <typename Visit>
void ForEachValidRun(const arrow::Array& array, Visit&& visit) {
  if (array.null_count() == array.length()) return;  // also where there is no bitmap
  arrow::internal::VisitSetBitRunsVoid(
      array.null_bitmap_data(), array.offset(), array.length(),
      [&](int64_t begin, int64_t count) { visit(begin, begin + count); });
}

/// Call visit(row) for every row that is not null.
template <typename Visit>
void ForEachValid(const arrow::Array& array, Visit&& visit) {
  ForEachValidRun(array, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) visit(i);
  });
}

}  // namespace xshards::ops
