// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/compute/api_scalar.h>

#include "xshards/expression/compiler.h"
#include "xshards/types/common_type.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

ArrowExpression Constant(int64_t value, const TypePointer& type) {
  return As(Operand{cp::literal(value), arrow::field("", arrow::int64())}, type);
}

ArrowExpression IfElse(ArrowExpression condition, ArrowExpression then,
                       ArrowExpression otherwise) {
  return cp::call("if_else",
                  {std::move(condition), std::move(then), std::move(otherwise)});
}

bool IsZero(const Operand& operand) {
  const auto value = operand.literal();
  if (value == nullptr || !value->is_valid) return false;
  const auto zero = arrow::MakeScalar(operand.type(), 0);
  return zero.ok() && value->Equals(**zero);
}

/// The quotient of integers; `right` is never zero.
ArrowExpression IntegerFloor(const ArrowExpression& left, const ArrowExpression& right,
                             const TypePointer& type) {
  auto quotient = cp::call("divide", {left, right});
  if (arrow::is_unsigned_integer(type->id())) return quotient;
  // Division rounds towards zero: subtract one if the exact quotient is negative.
  const auto zero = Constant(0, type);
  auto is_negative =
      cp::call("xor", {cp::call("less", {left, zero}), cp::call("less", {right, zero})});
  auto has_rest = cp::call("not_equal", {cp::call("modulo", {left, right}), zero});
  quotient = cp::call(
      "subtract",
      {quotient, IfElse(cp::call("and", {std::move(is_negative), std::move(has_rest)}),
                        Constant(1, type), zero)});
  // The smallest integer divided by -1 wraps around.
  return IfElse(cp::call("equal", {right, Constant(-1, type)}),
                cp::call("negate", {left}), quotient);
}

/// Python's floor division: exact even where the plain quotient would round up.
ArrowExpression FloatFloor(const ArrowExpression& left, const ArrowExpression& right,
                           const TypePointer& type) {
  auto rest = cp::call("modulo", {left, right});
  auto quotient = cp::call("divide", {cp::call("subtract", {left, rest}), right});
  auto rounded = cp::call("round", {quotient}, cp::RoundOptions(0));
  if (type->id() != arrow::Type::HALF_FLOAT) {
    // The rest is infinite if the divisor is, and has another sign: -1.5 // inf is -1.
    rounded = IfElse(cp::call("is_inf", {rest}), Constant(-1, type), std::move(rounded));
  }
  return IfElse(cp::call("equal", {right, Constant(0, type)}),
                cp::call("divide", {left, right}), std::move(rounded));
}

/// Floor division and modulo of integers: by zero gives a missing value, but 0 for the
/// masked dtypes, as in pandas.
ArrowExpression IntegerDivision(const std::string& function, const ArrowExpression& left,
                                const ArrowExpression& right, const TypePointer& type,
                                DtypeFamily family) {
  const bool masked = HasMissingLogic(family);
  auto is_zero = cp::call("equal", {right, Constant(0, type)});
  auto divisor = IfElse(is_zero, masked ? Constant(1, type) : NullOf(type), right);
  auto result = function == "modulo" ? cp::call("modulo", {left, divisor})
                                     : IntegerFloor(left, divisor, type);
  if (!masked) return result;
  auto zero = cp::call("subtract", {left, left});  // missing where the dividend is
  return IfElse(is_zero, std::move(zero), result);
}

/// 1 to any power is 1, and so is any value to the power of 0, even if the other operand
/// is missing.
ArrowExpression Power(const ArrowExpression& left, const ArrowExpression& right,
                      const TypePointer& type) {
  auto is = [&](const ArrowExpression& operand, int64_t value) {
    return cp::call("coalesce", {cp::call("equal", {operand, Constant(value, type)}),
                                 cp::literal(false)});
  };
  auto one = cp::call("or", {is(left, 1), is(right, 0)});
  return IfElse(std::move(one), Constant(1, type), cp::call("power", {left, right}));
}

/// A decimal as the nearest float; other types are unchanged.
Operand AsFloat(const Operand& operand) {
  if (!arrow::is_decimal(operand.id())) return operand;
  const auto& type = arrow::float64();
  return {As(operand, type),
          WithDtype(arrow::field("", type), DtypeNameIn(operand.family(), *type))};
}

OperandResult BooleanArithmetic(const Compiler& compiler, const std::string& function,
                                const Operand& left, const Operand& right) {
  const DtypeFamily family = CombinedFamily(left, right);
  if (function == "add") {
    return compiler.Typed(cp::call("or", {left.arrow, right.arrow}), family);
  }
  if (function == "multiply") {
    return compiler.Typed(cp::call("and", {left.arrow, right.arrow}), family);
  }
  if (function == "modulo") {
    return compiler.Typed(
        IntegerDivision(function, As(left, arrow::int8()), As(right, arrow::int8()),
                        arrow::int8(), family),
        family);
  }
  return NoArithmetic(function, left, right);
}

OperandResult NumberArithmetic(const Compiler& compiler, const std::string& function,
                               const Operand& left, const Operand& right) {
  const auto left_type = TypeBeside(left, right);
  const auto right_type = TypeBeside(right, left);
  if (left_type == nullptr || right_type == nullptr) {
    return arrow::Status::CapacityError(
        (left_type == nullptr ? left : right).arrow.ToString(), " is out of bounds for ",
        (left_type == nullptr ? right : left).type()->ToString(), ": cast the column");
  }
  auto type = NumericCommonType(*left_type, *right_type);
  if (type == nullptr) return NoArithmetic(function, left, right);
  if (type->id() == arrow::Type::BOOL) {
    return BooleanArithmetic(compiler, function, left, right);
  }
  const DtypeFamily family = CombinedFamily(left, right);
  const bool rounds_down = function == "floor_divide" || function == "modulo";
  const bool by_zero = rounds_down && IsZero(right) && !HasMissingLogic(family);
  if (!arrow::is_floating(type->id()) && (function == "divide" || by_zero)) {
    type = arrow::float64();
  }
  const auto a = As(left, type);
  const auto b = As(right, type);
  if (function == "power") return compiler.Typed(Power(a, b, type), family);
  if (rounds_down && !arrow::is_floating(type->id())) {
    return compiler.Typed(IntegerDivision(function, a, b, type, family), family);
  }
  if (function == "floor_divide") return compiler.Typed(FloatFloor(a, b, type), family);
  return compiler.Typed(cp::call(function, {a, b}), family);
}

}  // namespace

arrow::Status NoArithmetic(const std::string& function, const Operand& left,
                           const Operand& right) {
  return arrow::Status::TypeError("unsupported operands for ", function, ": ",
                                  DescribeType(left), " and ", DescribeType(right));
}

OperandResult CompileArithmetic(const Compiler& compiler,
                                const ArrowExpression::Call& call,
                                std::vector<Operand> arguments) {
  const std::string& function = call.function_name;
  const Operand& left = arguments[0];
  const Operand& right = arguments[1];
  if (left.family() == DtypeFamily::kCategory ||
      right.family() == DtypeFamily::kCategory) {
    return NoArithmetic(function, left, right);
  }
  if (left.is_time() || right.is_time()) {
    return CompileTimeArithmetic(compiler, function, left, right);
  }
  if (arrow::is_decimal(left.id()) || arrow::is_decimal(right.id())) {
    const bool floats = arrow::is_floating(left.id()) || arrow::is_floating(right.id());
    if (!floats && function != "power") {
      return CompileDecimalArithmetic(compiler, function, left, right);
    }
    return NumberArithmetic(compiler, function, AsFloat(left), AsFloat(right));
  }
  const bool both_text = (IsText(*left.type()) || left.id() == arrow::Type::NA) &&
                         (IsText(*right.type()) || right.id() == arrow::Type::NA);
  if (function == "add" && both_text) {
    const auto& text = arrow::large_utf8();
    auto separator = cp::literal(std::make_shared<arrow::LargeStringScalar>(""));
    return compiler.Typed(cp::call("binary_join_element_wise",
                                   {As(left, text), As(right, text), separator}),
                          // The dtype of the left, as in pandas, or of the only column.
                          (left.literal() == nullptr ? left : right).family());
  }
  return NumberArithmetic(compiler, function, left, right);
}

OperandResult CompileNegate(const Compiler& compiler, const ArrowExpression::Call& call,
                            std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  const char* function =
      operand.id() == arrow::Type::BOOL ? "invert" : call.function_name.c_str();
  return compiler.Typed(cp::call(function, {operand.arrow}), operand.family());
}

OperandResult CompileAbs(const Compiler& compiler, const ArrowExpression::Call&,
                         std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  if (operand.id() == arrow::Type::BOOL) return operand;
  if (operand.id() != arrow::Type::DURATION) {
    return compiler.Typed(cp::call("abs", {operand.arrow}), operand.family());
  }
  auto negative = cp::call("less", {operand.arrow, Constant(0, operand.type())});
  return compiler.Typed(
      IfElse(std::move(negative), cp::call("negate", {operand.arrow}), operand.arrow),
      operand.family());
}

OperandResult CompileRound(const Compiler& compiler, const ArrowExpression::Call&,
                           std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  if (operand.id() == arrow::Type::BOOL) return operand;
  int64_t digits = 0;
  if (arguments.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(digits, IntegerOption(arguments[1]));
  }
  if (arrow::is_integer(operand.id()) && digits >= 0) return operand;
  return compiler.Typed(cp::call("round", {operand.arrow}, cp::RoundOptions(digits)),
                        operand.family());
}

}  // namespace xshards
