// SPDX-License-Identifier: Apache-2.0
// Decimals beside other numbers. Those of no dtype of their own are Python's to pandas,
// which compares them with floats exactly; Arrow's dtypes make floats of both.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/util/decimal.h>

#include "xshards/expression/compiler.h"
#include "xshards/types/common_type.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

using arrow::Type;

constexpr int32_t kMaxPrecision128 = arrow::Decimal128Type::kMaxPrecision;
constexpr int32_t kMaxPrecision256 = arrow::Decimal256Type::kMaxPrecision;
// The total digits of a quotient in Python.
constexpr int32_t kQuotientDigits = 28;

struct Digits {
  int32_t precision = 0;
  int32_t scale = 0;
};

Digits DigitsOf(const Operand& operand) {
  // As the decimal that holds it exactly.
  const auto type = DecimalCommonType(*operand.type(), *operand.type());
  const auto& decimal = static_cast<const arrow::DecimalType&>(*type);
  return {decimal.precision(), decimal.scale()};
}

/// The digits of an integer constant, which are fewer than those of its type.
Digits FewestDigitsOf(const Operand& operand) {
  const auto value = operand.literal();
  if (value == nullptr || !value->is_valid || !arrow::is_integer(operand.id())) {
    return DigitsOf(operand);
  }
  const std::string text = value->ToString();
  return {static_cast<int32_t>(text.size()) - (text[0] == '-' ? 1 : 0), 0};
}

/// The precision and scale of Arrow's results.
Digits ResultDigits(const std::string& function, Digits left, Digits right) {
  if (function == "multiply") {
    return {left.precision + right.precision + 1, left.scale + right.scale};
  }
  if (function == "divide") {
    const int32_t scale = std::max(4, left.scale + right.precision - right.scale + 1);
    return {left.precision - left.scale + right.scale + scale, scale};
  }
  const int32_t scale = std::max(left.scale, right.scale);
  const int32_t whole =
      std::max(left.precision - left.scale, right.precision - right.scale);
  return {whole + scale + 1, scale};
}

TypePointer DecimalOf(Digits digits, bool wide) {
  return wide ? arrow::decimal256(digits.precision, digits.scale)
              : arrow::decimal128(digits.precision, digits.scale);
}

ArrowExpression InDigits(const Operand& operand, Digits digits, bool wide) {
  const auto type = DecimalOf(digits, wide);
  if (!arrow::is_integer(operand.id())) return As(operand, type);
  // Arrow casts integers only to decimals that hold all values of their type.
  const auto whole = DecimalCommonType(*operand.type(), *operand.type());
  return As(Operand{As(operand, whole), arrow::field("", whole)}, type);
}

/// A sum, difference, product or quotient, with as many digits as needed.
OperandResult Exact(const Compiler& compiler, const std::string& function,
                    const Operand& left, const Operand& right, DtypeFamily family) {
  Digits a = DigitsOf(left);
  Digits b = DigitsOf(right);
  if (ResultDigits(function, a, b).precision > kMaxPrecision128) {
    a = FewestDigitsOf(left);
    b = FewestDigitsOf(right);
  }
  if (function == "divide" && family == DtypeFamily::kPlain) {
    Digits longer = b;
    longer.precision = std::max(b.precision, kQuotientDigits - 1 - a.scale + b.scale);
    if (ResultDigits(function, a, longer).precision <= kMaxPrecision256) b = longer;
  }
  const Digits result = ResultDigits(function, a, b);
  if (result.precision > kMaxPrecision256) {
    return arrow::Status::TypeError("the ", function, " of ", DescribeType(left), " and ",
                                    DescribeType(right), " may have more than ",
                                    kMaxPrecision256,
                                    " digits: cast one of them to float64 first");
  }
  const bool wide = result.precision > kMaxPrecision128 ||
                    left.id() == Type::DECIMAL256 || right.id() == Type::DECIMAL256 ||
                    std::max(a.precision, b.precision) > kMaxPrecision128;
  return compiler.Typed(
      cp::call(function, {InDigits(left, a, wide), InDigits(right, b, wide)}), family);
}

/// Python truncates quotients of decimals, Arrow's dtypes round them down.
OperandResult WholeQuotient(const Compiler& compiler, const Operand& left,
                            const Operand& right, DtypeFamily family) {
  ARROW_ASSIGN_OR_RAISE(auto quotient, Exact(compiler, "divide", left, right, family));
  const char* round = family == DtypeFamily::kPlain ? "trunc" : "floor";
  return compiler.Typed(cp::call(round, {std::move(quotient.arrow)}), family);
}

/// The remainder, with the sign of the dividend, as in Python.
OperandResult Remainder(const Compiler& compiler, const Operand& left,
                        const Operand& right, DtypeFamily family) {
  ARROW_ASSIGN_OR_RAISE(auto quotient, WholeQuotient(compiler, left, right, family));
  const Digits digits = DigitsOf(quotient);
  const int32_t whole = std::max(1, digits.precision - digits.scale);
  const auto cut = DecimalOf({whole, 0}, whole > kMaxPrecision128);
  ARROW_ASSIGN_OR_RAISE(quotient, compiler.Typed(As(quotient, cut), family));
  ARROW_ASSIGN_OR_RAISE(auto product,
                        Exact(compiler, "multiply", quotient, right, family));
  ARROW_ASSIGN_OR_RAISE(auto rest, Exact(compiler, "subtract", left, product, family));
  return compiler.Typed(As(rest, DecimalCommonType(*left.type(), *right.type())), family);
}

/// A float times ten to the power of `scale`, rounded down, and whether that is exact.
struct Floor {
  arrow::Decimal256 value;
  bool exact = false;
};

/// nullopt for a float that is out of range for decimals of the scale.
std::optional<Floor> FloorAt(double number, int32_t scale) {
  constexpr int kMantissaBits = 53;
  constexpr int kMaxBits = 250;
  constexpr double kBitsOfDigit = 3.33;
  if (!std::isfinite(number) || scale < 0 || scale > kMaxPrecision128) return {};
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  exponent -= kMantissaBits;
  const arrow::Decimal256 power(arrow::Decimal256::GetScaleMultiplier(scale));
  const arrow::Decimal256 mantissa(
      static_cast<int64_t>(std::ldexp(fraction, kMantissaBits)));
  const arrow::Decimal256 scaled(mantissa * power);
  Floor floor;
  if (exponent >= 0) {
    if (kMantissaBits + scale * kBitsOfDigit + exponent > kMaxBits) return {};
    floor.value = scaled;
    floor.value <<= static_cast<uint32_t>(exponent);
    floor.exact = true;
  } else if (-exponent <= kMaxBits) {
    floor.value = scaled;
    floor.value >>= static_cast<uint32_t>(-exponent);
    auto back = floor.value;
    back <<= static_cast<uint32_t>(-exponent);
    floor.exact = back == scaled;
  } else {
    floor.exact = number == 0;
  }
  if (std::signbit(number)) {
    floor.value.Negate();
    if (!floor.exact) floor.value -= arrow::Decimal256(1);
  }
  return floor;
}

std::optional<double> ConstantFloat(const Operand& operand) {
  const auto value = operand.literal();
  if (value == nullptr || !value->is_valid || !arrow::is_floating(operand.id())) {
    return {};
  }
  const auto number = value->CastTo(arrow::float64());
  if (!number.ok()) return {};
  return static_cast<const arrow::DoubleScalar&>(**number).value;
}

int32_t ScaleOf(const arrow::DataType& type) {
  return std::max(0, static_cast<const arrow::DecimalType&>(type).scale());
}

/// The comparison with its sides swapped.
std::string Mirrored(const std::string& function) {
  if (function == "less") return "greater";
  if (function == "less_equal") return "greater_equal";
  if (function == "greater") return "less";
  if (function == "greater_equal") return "less_equal";
  return function;
}

}  // namespace

std::shared_ptr<arrow::Scalar> ExactDecimal(double number, const arrow::DataType& type) {
  const int32_t scale = ScaleOf(type);
  const auto floor = FloorAt(number, scale);
  if (!floor || !floor->exact || !floor->value.FitsInPrecision(kMaxPrecision256)) {
    return nullptr;
  }
  const auto exact = std::make_shared<arrow::Decimal256Scalar>(
      floor->value, arrow::decimal256(kMaxPrecision256, scale));
  const auto cast = cp::Cast(exact, type.GetSharedPtr());
  return cast.ok() ? cast->scalar() : nullptr;
}

std::optional<DecimalComparison> CompareWithFloat(const std::string& function,
                                                  const Operand& left,
                                                  const Operand& right) {
  const bool decimal_left = arrow::is_decimal(left.id());
  const Operand& decimal = decimal_left ? left : right;
  const auto number = ConstantFloat(decimal_left ? right : left);
  if (!number || !arrow::is_decimal(decimal.id())) return {};
  const int32_t scale = ScaleOf(*decimal.type());
  const auto floor = FloorAt(*number, scale);
  if (!floor || !floor->value.FitsInPrecision(kMaxPrecision256)) return {};
  DecimalComparison found;
  found.function = decimal_left ? function : Mirrored(function);
  if (!floor->exact) {
    // A decimal below the float is at most its floor; one above it is above that.
    if (found.function == "less") found.function = "less_equal";
    if (found.function == "greater_equal") found.function = "greater";
    found.never_equal = true;
  }
  const bool narrow =
      decimal.id() == Type::DECIMAL128 && floor->value.FitsInPrecision(kMaxPrecision128);
  found.type = narrow ? arrow::decimal128(kMaxPrecision128, scale)
                      : arrow::decimal256(kMaxPrecision256, scale);
  const auto constant = std::make_shared<arrow::Decimal256Scalar>(
      floor->value, arrow::decimal256(kMaxPrecision256, scale));
  found.decimal = As(decimal, found.type);
  found.constant =
      As(Operand{cp::literal(arrow::Datum(constant)), arrow::field("", constant->type)},
         found.type);
  return found;
}

OperandResult CompileDecimalArithmetic(const Compiler& compiler,
                                       const std::string& function, Operand left,
                                       Operand right) {
  const DtypeFamily family = CombinedFamily(left, right);
  for (auto [operand, other] : {std::pair{&left, &right}, std::pair{&right, &left}}) {
    if (operand->id() == Type::NA) {
      *operand = {As(*operand, other->type()), other->field};
    } else if (operand->id() == Type::BOOL && family == DtypeFamily::kPlain) {
      *operand = {As(*operand, arrow::int8()), arrow::field("", arrow::int8())};
    } else if (!arrow::is_decimal(operand->id()) && !arrow::is_integer(operand->id())) {
      return NoArithmetic(function, left, right);
    }
  }
  if (function == "floor_divide") return WholeQuotient(compiler, left, right, family);
  if (function != "modulo") return Exact(compiler, function, left, right, family);
  if (family == DtypeFamily::kPlain) return Remainder(compiler, left, right, family);
  return NoArithmetic(function, left,
                      right);  // pandas does not support it for Arrow's decimals either
}

}  // namespace xshards
