// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <arrow/compute/api_scalar.h>

#include "xshards/expression/compiler.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

using arrow::Type;

std::string ZoneOf(const Operand& operand) {
  return static_cast<const arrow::TimestampType&>(*operand.type()).timezone();
}

bool IsInstant(const Operand& operand) { return operand.id() == Type::TIMESTAMP; }
bool IsDuration(const Operand& operand) { return operand.id() == Type::DURATION; }
bool IsWhole(const Operand& operand) {
  return arrow::is_integer(operand.id()) || operand.id() == Type::BOOL;
}

Operand Computed(ArrowExpression arrow, TypePointer type) {
  return {std::move(arrow), arrow::field("", std::move(type))};
}

/// As numbers of a unit. Missing stays missing.
Operand Ticks(const Operand& duration, arrow::TimeUnit::type unit) {
  return Computed(CastTo(As(duration, arrow::duration(unit)), arrow::int64()),
                  arrow::int64());
}

/// Computed in floats, and truncated to whole ticks, as in numpy.
OperandResult ScaleByFloat(const Compiler& compiler, const std::string& function,
                           const Operand& duration, const Operand& factor) {
  const auto unit = UnitOf(*duration.type());
  auto ticks = CastTo(Ticks(duration, unit).arrow, arrow::float64());
  auto scaled = cp::call(function, {std::move(ticks), As(factor, arrow::float64())});
  auto finite = cp::call(
      "if_else", {cp::call("is_finite", {scaled}), scaled, NullOf(arrow::float64())});
  return compiler.Typed(
      CastTo(CastTo(std::move(finite), arrow::int64()), arrow::duration(unit)),
      DtypeFamily::kPlain);
}

OperandResult ScaleDuration(const Compiler& compiler, const std::string& function,
                            const Operand& duration, const Operand& factor) {
  const auto unit = UnitOf(*duration.type());
  if (!IsWhole(factor)) return ScaleByFloat(compiler, function, duration, factor);
  auto number = As(factor, arrow::int64());
  if (function == "multiply") {
    return compiler.Typed(cp::call("multiply", {duration.arrow, std::move(number)}),
                          DtypeFamily::kPlain);
  }
  auto zero = cp::call("equal", {number, cp::literal(int64_t{0})});
  auto divisor =
      cp::call("if_else", {std::move(zero), NullOf(arrow::int64()), std::move(number)});
  auto ticks = Ticks(duration, unit).arrow;
  // `/` truncates, `//` rounds down.
  const auto rest = function == "divide" ? "remainder" : "modulo";
  auto whole = cp::call("subtract", {ticks, cp::call(rest, {ticks, divisor})});
  return compiler.Typed(
      CastTo(cp::call("divide", {std::move(whole), divisor}), arrow::duration(unit)),
      DtypeFamily::kPlain);
}

OperandResult BetweenDurations(const Compiler& compiler, const std::string& function,
                               const Operand& left, const Operand& right) {
  const auto unit = std::max(UnitOf(*left.type()), UnitOf(*right.type()));
  const auto type = arrow::duration(unit);
  if (function == "add" || function == "subtract") {
    return compiler.Typed(cp::call(function, {As(left, type), As(right, type)}),
                          DtypeFamily::kPlain);
  }
  const auto a = Ticks(left, unit);
  const auto b = Ticks(right, unit);
  if (function == "divide") {
    return compiler.Typed(cp::call("divide", {CastTo(a.arrow, arrow::float64()),
                                              CastTo(b.arrow, arrow::float64())}),
                          DtypeFamily::kPlain);
  }
  auto divisor =
      cp::call("if_else", {cp::call("equal", {b.arrow, cp::literal(int64_t{0})}),
                           NullOf(arrow::int64()), b.arrow});
  auto rest = cp::call("modulo", {a.arrow, divisor});
  if (function == "modulo")
    return compiler.Typed(CastTo(rest, type), DtypeFamily::kPlain);
  return compiler.Typed(
      cp::call("divide", {cp::call("subtract", {a.arrow, std::move(rest)}), divisor}),
      DtypeFamily::kPlain);
}

OperandResult BetweenInstants(const Compiler& compiler, const Operand& left,
                              const Operand& right) {
  if (ZoneOf(left).empty() != ZoneOf(right).empty()) {
    return arrow::Status::TypeError(
        "cannot subtract timestamps with and without a time zone");
  }
  const auto type =
      arrow::timestamp(std::max(UnitOf(*left.type()), UnitOf(*right.type())),
                       ZoneOf(left).empty() ? "" : "UTC");
  return compiler.Typed(cp::call("subtract", {As(left, type), As(right, type)}),
                        DtypeFamily::kPlain);
}

OperandResult MoveInstant(const Compiler& compiler, const std::string& function,
                          const Operand& instant, const Operand& duration) {
  const auto unit = std::max(UnitOf(*instant.type()), UnitOf(*duration.type()));
  return compiler.Typed(
      cp::call(function, {As(instant, arrow::timestamp(unit, ZoneOf(instant))),
                          As(duration, arrow::duration(unit))}),
      DtypeFamily::kPlain);
}

arrow::Status CheckInstant(const std::string& function, const Operand& operand) {
  if (IsInstant(operand)) return arrow::Status::OK();
  return arrow::Status::TypeError("the ", function, " needs a timestamp, got ",
                                  DescribeType(operand));
}

}  // namespace

OperandResult CompileTimeArithmetic(const Compiler& compiler, const std::string& function,
                                    const Operand& left, const Operand& right) {
  const bool moves = function == "add" || function == "subtract";
  if (function == "subtract" && IsInstant(left) && IsInstant(right)) {
    return BetweenInstants(compiler, left, right);
  }
  if (moves && IsInstant(left) && IsDuration(right)) {
    return MoveInstant(compiler, function, left, right);
  }
  if (function == "add" && IsDuration(left) && IsInstant(right)) {
    return MoveInstant(compiler, function, right, left);
  }
  if (IsDuration(left) && IsDuration(right) && function != "multiply" &&
      function != "power") {
    return BetweenDurations(compiler, function, left, right);
  }
  const auto number = [](const Operand& operand) {
    return IsWhole(operand) || arrow::is_floating(operand.id());
  };
  if (function == "multiply" && number(left) && IsDuration(right)) {
    return ScaleDuration(compiler, function, right, left);
  }
  const bool divides =
      function == "divide" || (function == "floor_divide" && IsWhole(right));
  if (IsDuration(left) && number(right) && (function == "multiply" || divides)) {
    return ScaleDuration(compiler, function, left, right);
  }
  // Dates, and operands that Arrow rejects with its own message.
  return compiler.Typed(cp::call(function, {left.arrow, right.arrow}),
                        DtypeFamily::kPlain);
}

OperandResult CompileTimeField(const Compiler& compiler,
                               const ArrowExpression::Call& call,
                               std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  if (!arrow::is_date(time.id())) {
    ARROW_RETURN_NOT_OK(CheckInstant(call.function_name, time));
  }
  auto value = cp::call(call.function_name, {time.arrow});
  if (call.function_name == "microsecond") {
    auto thousands = cp::call(
        "multiply", {cp::call("millisecond", {time.arrow}), cp::literal(int64_t{1000})});
    value = cp::call("add", {std::move(thousands), std::move(value)});
  }
  return compiler.Typed(CastTo(std::move(value), arrow::int32()), time.family());
}

OperandResult CompileDate(const Compiler& compiler, const ArrowExpression::Call& call,
                          std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant(call.function_name, time));
  auto local =
      ZoneOf(time).empty() ? time.arrow : cp::call("local_timestamp", {time.arrow});
  return compiler.Typed(CastTo(std::move(local), arrow::date32()), DtypeFamily::kPlain);
}

OperandResult CompileNormalize(const Compiler& compiler,
                               const ArrowExpression::Call& call,
                               std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant(call.function_name, time));
  return compiler.Typed(cp::call("floor_temporal", {time.arrow},
                                 cp::RoundTemporalOptions(1, cp::CalendarUnit::DAY)),
                        time.family());
}

}  // namespace xshards
