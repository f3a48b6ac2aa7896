// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/common_type.h"

#include <algorithm>
#include <utility>

#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

using TypePointer = std::shared_ptr<arrow::DataType>;
using arrow::Type;

TypePointer SignedOf(int bits) {
  switch (bits) {
    case 8:
      return arrow::int8();
    case 16:
      return arrow::int16();
    case 32:
      return arrow::int32();
    default:
      return arrow::int64();
  }
}

TypePointer IntegerCommonType(const arrow::DataType& left, const arrow::DataType& right) {
  const int left_bits = arrow::bit_width(left.id());
  const int right_bits = arrow::bit_width(right.id());
  const bool left_signed = arrow::is_signed_integer(left.id());
  if (left_signed == arrow::is_signed_integer(right.id())) {
    return (left_bits >= right_bits ? left : right).GetSharedPtr();
  }
  const int signed_bits = left_signed ? left_bits : right_bits;
  const int unsigned_bits = left_signed ? right_bits : left_bits;
  if (signed_bits > unsigned_bits) return SignedOf(signed_bits);
  return unsigned_bits == 64 ? arrow::float64() : SignedOf(2 * unsigned_bits);
}

bool IsNumber(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_floating(type.id());
}

/// The integer bits that a float of this type is expected to represent.
TypePointer FloatBeside(const arrow::DataType& floating, const arrow::DataType& other) {
  if (arrow::is_floating(other.id())) {
    return arrow::bit_width(floating.id()) >= arrow::bit_width(other.id())
               ? floating.GetSharedPtr()
               : other.GetSharedPtr();
  }
  if (other.id() == Type::BOOL) return floating.GetSharedPtr();
  const int bits = arrow::bit_width(other.id());
  const int needed = bits <= 8 ? 16 : bits <= 16 ? 32 : 64;
  if (arrow::bit_width(floating.id()) >= needed) return floating.GetSharedPtr();
  return needed == 32 ? arrow::float32() : arrow::float64();
}

/// The digits before and after the decimal point; -1 if a decimal cannot represent the
/// type.
std::pair<int32_t, int32_t> DigitsOf(const arrow::DataType& type) {
  if (type.id() == Type::BOOL) return {3, 0};  // treated as int8
  if (arrow::is_integer(type.id())) {
    constexpr double kDigitsOfBit = 0.30103;
    const int sign = arrow::is_signed_integer(type.id()) ? 1 : 0;
    const int bits = arrow::bit_width(type.id()) - sign;
    return {static_cast<int32_t>(bits * kDigitsOfBit) + 1, 0};
  }
  if (!arrow::is_decimal(type.id())) return {-1, -1};
  const auto& decimal = static_cast<const arrow::DecimalType&>(type);
  return {std::max(0, decimal.precision() - decimal.scale()),
          std::max(0, decimal.scale())};
}

bool IsText(const arrow::DataType& type) {
  return arrow::is_string(type.id()) || type.id() == Type::STRING_VIEW;
}

bool IsBinary(const arrow::DataType& type) {
  return arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type.id());
}

template <typename T>
arrow::TimeUnit::type FinerUnit(const arrow::DataType& left,
                                const arrow::DataType& right) {
  return std::max(static_cast<const T&>(left).unit(),
                  static_cast<const T&>(right).unit());
}

/// nullptr if there is none.
TypePointer TimeCommonType(const arrow::DataType& left, const arrow::DataType& right) {
  if (left.id() != right.id()) return nullptr;
  if (left.id() == Type::DURATION) {
    return arrow::duration(FinerUnit<arrow::DurationType>(left, right));
  }
  if (left.id() != Type::TIMESTAMP) return nullptr;
  const auto& zone = static_cast<const arrow::TimestampType&>(left).timezone();
  if (zone != static_cast<const arrow::TimestampType&>(right).timezone()) return nullptr;
  return arrow::timestamp(FinerUnit<arrow::TimestampType>(left, right), zone);
}

/// A type that may hold pickled Python objects.
bool AreObjects(const arrow::Field& field) {
  return IsOpaque(field) && field.type()->id() == Type::LARGE_BINARY &&
         FamilyOf(field) != DtypeFamily::kCategory;
}

/// The common type of values that pandas holds in one array, or nullptr.
arrow::Result<TypePointer> ConcatType(const TypePointer& left, const TypePointer& right) {
  if (left->Equals(*right) || right->id() == Type::NA) return left;
  if (left->id() == Type::NA) return right;
  if (IsNumber(*left) && IsNumber(*right)) return NumericCommonType(*left, *right);
  if (IsText(*left) && IsText(*right)) return arrow::large_utf8();
  if (IsBinary(*left) && IsBinary(*right) && !IsText(*left) && !IsText(*right)) {
    return arrow::large_binary();
  }
  if (auto time = TimeCommonType(*left, *right)) return time;
  const bool mixed = IsNumber(*left) || IsNumber(*right) || IsBinary(*left) ||
                     IsBinary(*right) || left->id() == Type::BOOL ||
                     right->id() == Type::BOOL || left->id() == Type::TIMESTAMP ||
                     right->id() == Type::TIMESTAMP;
  if (mixed) return nullptr;
  // Decimals, lists, structs: Arrow widens them.
  auto merged = arrow::field("", left)->MergeWith(
      *arrow::field("", right), arrow::Field::MergeOptions::Permissive());
  return merged.ok() ? (*merged)->type() : nullptr;
}

/// The categories of both if they are equal; else pandas falls back to the values.
arrow::Result<bool> StaysCategory(const arrow::Field& left, const arrow::Field& right) {
  if (FamilyOf(left) != DtypeFamily::kCategory ||
      FamilyOf(right) != DtypeFamily::kCategory) {
    return false;
  }
  return SameCategories(left, right);
}

DtypeFamily CommonFamily(const arrow::Field& left, const arrow::Field& right) {
  for (auto family : {DtypeFamily::kArrow, DtypeFamily::kMasked, DtypeFamily::kText}) {
    if (FamilyOf(left) == family || FamilyOf(right) == family) return family;
  }
  return DtypeFamily::kPlain;
}

/// A column combined with an all-null one, which does not determine the type; but pandas
/// gives object dtype if one side is object, even without values.
std::shared_ptr<arrow::Field> BesideNothing(const std::shared_ptr<arrow::Field>& field,
                                            const arrow::Field& nothing) {
  const bool gives_objects = DtypeName(nothing) == "object" && !IsOpaque(*field);
  return gives_objects ? WithDtypeOf(field, nothing) : field;
}

/// The numeric type to which pandas converts booleans when frames are concatenated: with
/// integers, and after floats (before floats they become objects). nullptr for other
/// types.
TypePointer NumberBesideBool(const arrow::Field& left, const arrow::Field& right) {
  if (!DtypeName(left).empty() || !DtypeName(right).empty()) return nullptr;
  if (right.type()->id() == Type::BOOL && IsNumber(*left.type())) return left.type();
  if (left.type()->id() == Type::BOOL && arrow::is_integer(right.type()->id())) {
    return right.type();
  }
  return nullptr;
}

}  // namespace

TypePointer NumericCommonType(const arrow::DataType& left, const arrow::DataType& right) {
  const auto counts = [](const arrow::DataType& type) {
    return IsNumber(type) || type.id() == Type::BOOL;
  };
  if (!counts(left) || !counts(right)) return nullptr;
  if (arrow::is_floating(left.id())) return FloatBeside(left, right);
  if (arrow::is_floating(right.id())) return FloatBeside(right, left);
  if (left.id() == Type::BOOL) return right.GetSharedPtr();
  if (right.id() == Type::BOOL) return left.GetSharedPtr();
  return IntegerCommonType(left, right);
}

std::shared_ptr<arrow::DataType> DecimalCommonType(const arrow::DataType& left,
                                                   const arrow::DataType& right) {
  const auto [left_whole, left_scale] = DigitsOf(left);
  const auto [right_whole, right_scale] = DigitsOf(right);
  if (left_whole < 0 || right_whole < 0) return nullptr;
  const int32_t scale = std::max(left_scale, right_scale);
  const int32_t whole = std::max(left_whole, right_whole);
  const int32_t precision =
      std::clamp(whole + scale, 1, arrow::Decimal256Type::kMaxPrecision);
  if (precision <= arrow::Decimal128Type::kMaxPrecision) {
    return arrow::decimal128(precision, scale);
  }
  return arrow::decimal256(precision, scale);
}

arrow::Result<std::shared_ptr<arrow::Field>> CommonField(
    const std::shared_ptr<arrow::Field>& left,
    const std::shared_ptr<arrow::Field>& right) {
  if (left->Equals(*right, /*check_metadata=*/true)) return left;
  const auto nullable = left->WithNullable(left->nullable() || right->nullable());
  if (right->type()->id() == Type::NA) return BesideNothing(nullable, *right);
  if (left->type()->id() == Type::NA) {
    return BesideNothing(WithDtypeOf(nullable->WithType(right->type()), *right), *left);
  }
  ARROW_ASSIGN_OR_RAISE(bool is_category, StaysCategory(*left, *right));
  // Equal categories in another order: use the values, so that codes are never confused.
  if (is_category) return nullable->WithType(ValueType(left->type()));
  ARROW_ASSIGN_OR_RAISE(
      auto type, left->type()->Equals(*right->type())
                     ? left->type()
                     : ConcatType(ValueType(left->type()), ValueType(right->type())));
  if (type == nullptr) {
    return arrow::Status::TypeError(
        "Column '", left->name(), "' is ", left->type()->ToString(),
        " in one partition and ", right->type()->ToString(),
        " in another; these have no common type: cast one of them");
  }
  // Bytes combined with pickles: the metadata must keep that they are pickles.
  if (AreObjects(*left)) return nullable->WithType(type);
  if (AreObjects(*right)) return WithDtypeOf(nullable->WithType(type), *right);
  const bool same_dtype =
      DtypeName(*left) == DtypeName(*right) && FamilyOf(*left) != DtypeFamily::kCategory;
  if (same_dtype && type->Equals(*left->type())) return nullable->WithType(type);
  auto name = DtypeNameIn(CommonFamily(*left, *right), *type);
  return WithDtype(nullable->WithType(type), name);
}

arrow::Result<std::shared_ptr<arrow::Field>> ConcatField(
    const std::shared_ptr<arrow::Field>& left,
    const std::shared_ptr<arrow::Field>& right) {
  if (auto number = NumberBesideBool(*left, *right)) {
    return left->WithType(number)->WithNullable(left->nullable() || right->nullable());
  }
  return CommonField(left, right);
}

}  // namespace xshards
