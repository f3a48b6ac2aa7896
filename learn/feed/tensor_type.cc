// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/tensor_type.h"

#include <algorithm>
#include <array>
#include <memory>

#include <arrow/type.h>
#include <arrow/type_traits.h>

namespace xshards::learn {

namespace {

struct Name {
  TensorType type;
  const char* numpy;
};

constexpr std::array<Name, 8> kNames = {{
    {TensorType::kBool, "|b1"},
    {TensorType::kUInt8, "|u1"},
    {TensorType::kInt8, "|i1"},
    {TensorType::kInt16, "<i2"},
    {TensorType::kInt32, "<i4"},
    {TensorType::kInt64, "<i8"},
    {TensorType::kFloat32, "<f4"},
    {TensorType::kFloat64, "<f8"},
}};

/// The widest integers and floats of a set of numeric types.
struct Widths {
  bool boolean = false;
  int signed_bits = 0;
  int unsigned_bits = 0;
  int float_bits = 0;
};

arrow::Status Note(const arrow::DataType& type, Widths* widths) {
  if (type.id() == arrow::Type::BOOL) {
    widths->boolean = true;
  } else if (arrow::is_signed_integer(type.id())) {
    widths->signed_bits = std::max(widths->signed_bits, type.bit_width());
  } else if (arrow::is_unsigned_integer(type.id())) {
    widths->unsigned_bits = std::max(widths->unsigned_bits, type.bit_width());
  } else if (arrow::is_floating(type.id())) {
    widths->float_bits = std::max(widths->float_bits, type.bit_width());
  } else if (arrow::is_decimal(type.id())) {
    widths->float_bits = 64;
  } else {
    return arrow::Status::TypeError("a tensor needs a numeric type, got ",
                                    type.ToString());
  }
  return arrow::Status::OK();
}

TensorType IntegerOf(const Widths& widths) {
  // An unsigned type next to a signed one, or one that torch lacks, becomes the next
  // wider signed one.
  const bool mixed = widths.signed_bits > 0 || widths.unsigned_bits > 8;
  if (!mixed && widths.unsigned_bits == 8) return TensorType::kUInt8;
  const int bits = std::max(widths.signed_bits, 2 * widths.unsigned_bits);
  switch (bits) {
    case 8:
      return TensorType::kInt8;
    case 16:
      return TensorType::kInt16;
    case 32:
      return TensorType::kInt32;
    case 64:
      return TensorType::kInt64;
    default:  // uint64
      return widths.signed_bits > 0 ? TensorType::kFloat64 : TensorType::kInt64;
  }
}

}  // namespace

int64_t ByteWidth(TensorType type) {
  return VisitTensorType(type,
                         [](auto value) { return static_cast<int64_t>(sizeof(value)); });
}

const char* NumpyName(TensorType type) { return kNames[static_cast<size_t>(type)].numpy; }

arrow::Result<TensorType> TensorTypeFromNumpy(const std::string& name) {
  std::string known;
  for (const Name& candidate : kNames) {
    if (name == candidate.numpy) return candidate.type;
    known += known.empty() ? "" : ", ";
    known += candidate.numpy;
  }
  return arrow::Status::TypeError("unknown tensor dtype '", name, "'; expected one of ",
                                  known);
}

arrow::Result<TensorType> CommonTensorType(
    std::span<const std::shared_ptr<arrow::DataType>> types) {
  Widths widths;
  for (const auto& type : types) ARROW_RETURN_NOT_OK(Note(*type, &widths));
  const int integer_bits = std::max(widths.signed_bits, widths.unsigned_bits);
  if (widths.float_bits > 0) {
    // float32 holds 16-bit integers exactly, but no wider ones.
    const bool narrow = widths.float_bits <= 32 && integer_bits <= 16;
    return narrow ? TensorType::kFloat32 : TensorType::kFloat64;
  }
  if (integer_bits == 0) return TensorType::kBool;
  return IntegerOf(widths);
}

}  // namespace xshards::learn
