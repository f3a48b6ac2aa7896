// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "xshards/export.h"

namespace xshards::learn {

/// The element types of tensors that models take.
enum class TensorType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
};

XSHARDS_EXPORT int64_t ByteWidth(TensorType type);
/// numpy's type string, such as "<f4".
XSHARDS_EXPORT const char* NumpyName(TensorType type);
/// Parse numpy's type string. TypeError lists the supported types.
XSHARDS_EXPORT arrow::Result<TensorType> TensorTypeFromNumpy(const std::string& name);

/// Call `function` with a value of the C++ type of `type`.
template <typename F>
decltype(auto) VisitTensorType(TensorType type, F&& function) {
  switch (type) {
    case TensorType::kBool:
      return function(bool{});
    case TensorType::kUInt8:
      return function(uint8_t{});
    case TensorType::kInt8:
      return function(int8_t{});
    case TensorType::kInt16:
      return function(int16_t{});
    case TensorType::kInt32:
      return function(int32_t{});
    case TensorType::kInt64:
      return function(int64_t{});
    case TensorType::kFloat32:
      return function(float{});
    case TensorType::kFloat64:
      break;
  }
  return function(double{});
}

/// The type that numpy.stack would choose: it holds the values of all these Arrow types,
/// without loss if such a type exists. TypeError names a type that is not numeric.
XSHARDS_EXPORT arrow::Result<TensorType> CommonTensorType(
    std::span<const std::shared_ptr<arrow::DataType>> types);

}  // namespace xshards::learn
