// SPDX-License-Identifier: Apache-2.0
// Times by the calendar: rounding, zones, text, and the parts of durations.
#include <map>
#include <utility>

#include <arrow/compute/api_scalar.h>

#include "xshards/expression/compiler.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

using arrow::TimeUnit;
using arrow::Type;

arrow::Status CheckInstant(const char* what, const Operand& operand) {
  if (operand.id() == Type::TIMESTAMP) return arrow::Status::OK();
  return arrow::Status::TypeError("the ", what, " needs a timestamp, got ",
                                  DescribeType(operand));
}

const arrow::TimestampType& TypeOf(const Operand& time) {
  return static_cast<const arrow::TimestampType&>(*time.type());
}

/// "15min" as a number of a unit.
arrow::Result<std::pair<int, cp::CalendarUnit>> Frequency(const std::string& text) {
  static const std::map<std::string, cp::CalendarUnit> kUnits = {
      {"D", cp::CalendarUnit::DAY},          {"h", cp::CalendarUnit::HOUR},
      {"min", cp::CalendarUnit::MINUTE},     {"s", cp::CalendarUnit::SECOND},
      {"ms", cp::CalendarUnit::MILLISECOND}, {"us", cp::CalendarUnit::MICROSECOND},
      {"ns", cp::CalendarUnit::NANOSECOND}};
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const auto unit = kUnits.find(text.substr(digits));
  const int multiple = digits == 0 || digits > 6 ? 1 : std::stoi(text.substr(0, digits));
  if (unit == kUnits.end() || digits > 6 || multiple < 1) {
    return arrow::Status::Invalid(
        "Expected a number and one of D, h, min, s, ms, us, ns, as in '15min', got '",
        text, "'");
  }
  return std::pair{multiple, unit->second};
}

/// Truncated to seconds, so that text has no fractions.
ArrowExpression Seconds(const Operand& time) {
  auto floored = cp::call("floor_temporal", {time.arrow},
                          cp::RoundTemporalOptions(1, cp::CalendarUnit::SECOND));
  return CastTo(std::move(floored),
                arrow::timestamp(TimeUnit::SECOND, TypeOf(time).timezone()));
}

int64_t TicksPerSecond(const Operand& duration) {
  switch (static_cast<const arrow::DurationType&>(*duration.type()).unit()) {
    case TimeUnit::SECOND:
      return 1;
    case TimeUnit::MILLI:
      return 1000;
    case TimeUnit::MICRO:
      return 1000 * 1000;
    case TimeUnit::NANO:
      return 1000 * 1000 * 1000;
  }
  return 1;
}

/// numbers // divisor, rounding down.
ArrowExpression FloorDivide(const ArrowExpression& numbers, int64_t divisor) {
  auto rest = cp::call("modulo", {numbers, cp::literal(divisor)});
  return cp::call(
      "divide", {cp::call("subtract", {numbers, std::move(rest)}), cp::literal(divisor)});
}

}  // namespace

OperandResult CompileRoundTime(const Compiler& compiler,
                               const ArrowExpression::Call& call,
                               std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant("rounding", time));
  ARROW_ASSIGN_OR_RAISE(const auto text, TextOption(arguments[1]));
  ARROW_ASSIGN_OR_RAISE(const auto frequency, Frequency(text));
  return compiler.Typed(
      cp::call(call.function_name, {time.arrow},
               cp::RoundTemporalOptions(frequency.first, frequency.second)),
      time.family());
}

OperandResult CompileStrftime(const Compiler& compiler, const ArrowExpression::Call&,
                              std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant("text", time));
  ARROW_ASSIGN_OR_RAISE(auto format, TextOption(arguments[1]));
  if (format.find("%f") != std::string::npos) {
    return arrow::Status::NotImplemented("strftime does not support %f: ", format);
  }
  auto text = cp::call("strftime", {Seconds(time)}, cp::StrftimeOptions(format));
  return compiler.Typed(CastTo(std::move(text), arrow::large_utf8()), time.family());
}

OperandResult CompileDaysInMonth(const Compiler& compiler, const ArrowExpression::Call&,
                                 std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant("month", time));
  const auto local = TypeOf(time).timezone().empty()
                         ? time.arrow
                         : cp::call("local_timestamp", {time.arrow});
  const auto date = CastTo(local, arrow::date32());
  cp::RoundTemporalOptions options(1, cp::CalendarUnit::MONTH);
  auto begin = cp::call("floor_temporal", {date}, options);
  options.ceil_is_strictly_greater = true;
  auto end = cp::call("ceil_temporal", {date}, options);
  auto days = cp::call("days_between", {std::move(begin), std::move(end)});
  return compiler.Typed(CastTo(std::move(days), arrow::int32()), time.family());
}

OperandResult CompileIsLeapYear(const Compiler& compiler,
                                const ArrowExpression::Call& call,
                                std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant("year", time));
  auto leaps = cp::call(call.function_name, {time.arrow});
  if (!HasMissingLogic(time.family())) {
    leaps = cp::call("coalesce", {std::move(leaps), cp::literal(false)});
  }
  return compiler.Typed(std::move(leaps), time.family());
}

OperandResult CompileConvertZone(const Compiler& compiler, const ArrowExpression::Call&,
                                 std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant("zone", time));
  ARROW_ASSIGN_OR_RAISE(const auto zone, TextOption(arguments[1]));
  if (TypeOf(time).timezone().empty()) {
    return arrow::Status::TypeError(
        "a timestamp without a time zone cannot be converted to another: set one with "
        "tz_localize");
  }
  return compiler.Typed(CastTo(time.arrow, arrow::timestamp(TypeOf(time).unit(), zone)),
                        time.family());
}

OperandResult CompileAssumeZone(const Compiler& compiler, const ArrowExpression::Call&,
                                std::vector<Operand> arguments) {
  const Operand& time = arguments[0];
  ARROW_RETURN_NOT_OK(CheckInstant("zone", time));
  ARROW_ASSIGN_OR_RAISE(const auto zone, TextOption(arguments[1]));
  if (zone.empty()) {
    return compiler.Typed(TypeOf(time).timezone().empty()
                              ? time.arrow
                              : cp::call("local_timestamp", {time.arrow}),
                          time.family());
  }
  if (!TypeOf(time).timezone().empty()) {
    return arrow::Status::TypeError(
        "a timestamp that has a time zone cannot be localized: use tz_convert");
  }
  return compiler.Typed(
      cp::call("assume_timezone", {time.arrow}, cp::AssumeTimezoneOptions(zone)),
      time.family());
}

OperandResult CompileDurationPart(const Compiler& compiler,
                                  const ArrowExpression::Call& call,
                                  std::vector<Operand> arguments) {
  const Operand& duration = arguments[0];
  if (duration.id() != Type::DURATION) {
    return arrow::Status::TypeError("the ", call.function_name, " needs a duration, got ",
                                    DescribeType(duration));
  }
  constexpr int64_t kSecondsPerDay = 24LL * 60 * 60;
  const int64_t scale = TicksPerSecond(duration);
  const auto ticks = CastTo(duration.arrow, arrow::int64());
  const auto whole = [&](ArrowExpression value) {
    return compiler.Typed(CastTo(std::move(value), arrow::int32()), duration.family());
  };
  if (call.function_name == "total_seconds") {
    return compiler.Typed(cp::call("divide", {CastTo(ticks, arrow::float64()),
                                              cp::literal(static_cast<double>(scale))}),
                          duration.family());
  }
  if (call.function_name == "duration_days") {
    return compiler.Typed(FloorDivide(ticks, scale * kSecondsPerDay), duration.family());
  }
  if (call.function_name == "duration_seconds") {
    return whole(
        cp::call("modulo", {FloorDivide(ticks, scale), cp::literal(kSecondsPerDay)}));
  }
  // The microseconds within the second.
  auto rest = cp::call("modulo", {ticks, cp::literal(scale)});
  constexpr int64_t kMicro = 1000 * 1000;
  return whole(scale > kMicro ? FloorDivide(rest, scale / kMicro)
                              : cp::call("multiply",
                                         {std::move(rest), cp::literal(kMicro / scale)}));
}

}  // namespace xshards
