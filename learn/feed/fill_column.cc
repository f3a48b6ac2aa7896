// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/fill_column.h"

#include <limits>
#include <type_traits>

#include <arrow/array.h>
#include <arrow/type_traits.h>

namespace xshards::learn {

namespace {

template <typename To>
constexpr To kMissing =
    std::is_floating_point_v<To> ? std::numeric_limits<To>::quiet_NaN() : To{};

template <typename From, typename To>
void FillNumbers(const arrow::Array& column, int64_t begin, int64_t length, void* out,
                 int64_t stride) {
  using ArrayType = typename arrow::CTypeTraits<From>::ArrayType;
  const From* values = static_cast<const ArrayType&>(column).raw_values() + begin;
  To* target = static_cast<To*>(out);
  if (column.null_count() == 0) {
    for (int64_t i = 0; i < length; ++i) target[i * stride] = static_cast<To>(values[i]);
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    target[i * stride] =
        column.IsNull(begin + i) ? kMissing<To> : static_cast<To>(values[i]);
  }
}

template <typename To>
void FillBooleans(const arrow::Array& column, int64_t begin, int64_t length, void* out,
                  int64_t stride) {
  const auto& values = static_cast<const arrow::BooleanArray&>(column);
  To* target = static_cast<To*>(out);
  for (int64_t i = 0; i < length; ++i) {
    target[i * stride] = values.IsNull(begin + i)
                             ? kMissing<To>
                             : static_cast<To>(values.Value(begin + i));
  }
}

template <typename From>
FillColumn FillFrom(TensorType tensor) {
  return VisitTensorType(
      tensor, [](auto to) -> FillColumn { return &FillNumbers<From, decltype(to)>; });
}

}  // namespace

arrow::Result<FillColumn> FillColumnFor(const arrow::DataType& column,
                                        TensorType tensor) {
  switch (column.id()) {
    case arrow::Type::BOOL:
      return VisitTensorType(
          tensor, [](auto to) -> FillColumn { return &FillBooleans<decltype(to)>; });
    case arrow::Type::UINT8:
      return FillFrom<uint8_t>(tensor);
    case arrow::Type::UINT16:
      return FillFrom<uint16_t>(tensor);
    case arrow::Type::UINT32:
      return FillFrom<uint32_t>(tensor);
    case arrow::Type::UINT64:
      return FillFrom<uint64_t>(tensor);
    case arrow::Type::INT8:
      return FillFrom<int8_t>(tensor);
    case arrow::Type::INT16:
      return FillFrom<int16_t>(tensor);
    case arrow::Type::INT32:
      return FillFrom<int32_t>(tensor);
    case arrow::Type::INT64:
      return FillFrom<int64_t>(tensor);
    case arrow::Type::FLOAT:
      return FillFrom<float>(tensor);
    case arrow::Type::DOUBLE:
      return FillFrom<double>(tensor);
    default:
      return arrow::Status::TypeError("a tensor needs a numeric type, got ",
                                      column.ToString());
  }
}

}  // namespace xshards::learn
