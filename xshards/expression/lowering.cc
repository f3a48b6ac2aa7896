// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/lowering.h"

#include <map>
#include <utility>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>

namespace xshards {

namespace cp = arrow::compute;

namespace {

/// Arrow's function as it is; the family of dtypes is that of its arguments.
OperandResult LowerPlainCall(const Lowering& lowering, const ArrowExpression::Call& call,
                             std::vector<Operand> arguments) {
  std::vector<ArrowExpression> lowered;
  DtypeFamily family = DtypeFamily::kPlain;
  for (auto& argument : arguments) {
    if (HasMissingLogic(argument.family())) family = argument.family();
    lowered.push_back(std::move(argument.arrow));
  }
  return lowering.Typed(cp::call(call.function_name, std::move(lowered), call.options),
                        family);
}

OperandResult LowerCast(const Lowering& lowering, const ArrowExpression::Call& call,
                        std::vector<Operand> arguments) {
  return lowering.Typed(
      cp::call(call.function_name, {std::move(arguments[0].arrow)}, call.options),
      DtypeFamily::kPlain);
}

const std::map<std::string, Rule>& Rules() {
  static const std::map<std::string, Rule> rules = {
      {"add", LowerArithmetic},
      {"subtract", LowerArithmetic},
      {"multiply", LowerArithmetic},
      {"divide", LowerArithmetic},
      {"floor_divide", LowerArithmetic},
      {"modulo", LowerArithmetic},
      {"power", LowerArithmetic},
      {"negate", LowerNegate},
      {"abs", LowerAbs},
      {"round", LowerRound},
      {"equal", LowerComparison},
      {"not_equal", LowerComparison},
      {"less", LowerComparison},
      {"less_equal", LowerComparison},
      {"greater", LowerComparison},
      {"greater_equal", LowerComparison},
      {"and_kleene", LowerLogic},
      {"or_kleene", LowerLogic},
      {"invert", LowerInvert},
      {"is_null", LowerIsNull},
      {"is_in", LowerIsIn},
      {"index_in", LowerIndexIn},
      {"cast", LowerCast},
      {"as_type", LowerAsType},
      {"as_dtype", LowerAsDtype},
      {"choose", LowerChoose},
      {"fill_missing", LowerFillMissing},
      {"clip_lower", LowerClip},
      {"clip_upper", LowerClip},
      {"starts_with", LowerTextMatch},
      {"ends_with", LowerTextMatch},
      {"match_substring", LowerTextMatch},
      {"match_substring_regex", LowerTextMatch},
      {"utf8_is_alnum", LowerTextMatch},
      {"utf8_is_alpha", LowerTextMatch},
      {"utf8_is_decimal", LowerTextMatch},
      {"utf8_is_digit", LowerTextMatch},
      {"utf8_is_lower", LowerTextMatch},
      {"utf8_is_numeric", LowerTextMatch},
      {"utf8_is_space", LowerTextMatch},
      {"utf8_is_title", LowerTextMatch},
      {"utf8_is_upper", LowerTextMatch},
      {"string_is_ascii", LowerTextMatch},
      {"text_slice", LowerTextSlice},
      {"text_pad", LowerTextPad},
      {"text_zero_fill", LowerTextZeroFill},
      {"text_count", LowerTextCount},
      {"text_replace_slice", LowerTextReplaceSlice},
      {"text_strip", LowerTextStrip},
      {"text_split", LowerTextSplit},
      {"text_extract", LowerTextExtract},
      {"list_get", LowerListGet},
      {"year", LowerTimeField},
      {"quarter", LowerTimeField},
      {"month", LowerTimeField},
      {"day", LowerTimeField},
      {"day_of_year", LowerTimeField},
      {"day_of_week", LowerTimeField},
      {"iso_year", LowerTimeField},
      {"iso_week", LowerTimeField},
      {"hour", LowerTimeField},
      {"minute", LowerTimeField},
      {"second", LowerTimeField},
      {"microsecond", LowerTimeField},
      {"date", LowerDate},
      {"normalize", LowerNormalize},
      {"nanosecond", LowerTimeField},
      {"floor_temporal", LowerRoundTime},
      {"ceil_temporal", LowerRoundTime},
      {"strftime", LowerStrftime},
      {"days_in_month", LowerDaysInMonth},
      {"is_leap_year", LowerIsLeapYear},
      {"convert_zone", LowerConvertZone},
      {"assume_zone", LowerAssumeZone},
      {"total_seconds", LowerDurationPart},
      {"duration_days", LowerDurationPart},
      {"duration_seconds", LowerDurationPart},
      {"duration_microseconds", LowerDurationPart},
  };
  return rules;
}

}  // namespace

std::shared_ptr<arrow::Scalar> Operand::literal() const {
  const arrow::Datum* value = arrow.literal();
  return value != nullptr && value->is_scalar() ? value->scalar() : nullptr;
}

OperandResult Lowering::Lower(const ArrowExpression& expression) const {
  if (const arrow::FieldRef* reference = expression.field_ref()) {
    return Column(*reference);
  }
  const ArrowExpression::Call* call = expression.call();
  if (call == nullptr) return Typed(expression, DtypeFamily::kPlain);
  std::vector<Operand> arguments;
  for (const auto& argument : call->arguments) {
    ARROW_ASSIGN_OR_RAISE(auto lowered, Lower(argument));
    arguments.push_back(std::move(lowered));
  }
  for (const auto& argument : arguments) {
    if (!IsOpaque(*argument.field) || call->function_name == "is_null") continue;
    return arrow::Status::TypeError("column '", argument.field->name(),
                                    "' holds Python objects, which only a Python "
                                    "function understands: use transform_shard");
  }
  const auto rule = Rules().find(call->function_name);
  return rule == Rules().end() ? LowerPlainCall(*this, *call, std::move(arguments))
                               : rule->second(*this, *call, std::move(arguments));
}

OperandResult Lowering::Typed(ArrowExpression lowered, DtypeFamily family) const {
  TypePointer type;
  const arrow::Datum* literal = lowered.literal();
  if (literal != nullptr && literal->is_scalar()) {
    type = literal->type();
  } else {
    ARROW_ASSIGN_OR_RAISE(auto bound, lowered.Bind(schema_));
    type = bound.type()->GetSharedPtr();
  }
  auto field = WithDtype(arrow::field("", type), DtypeNameIn(family, *type));
  return Operand{std::move(lowered), std::move(field)};
}

void Lowering::Require(ArrowExpression lowered, TypePointer type) const {
  required_.push_back({.arrow = std::move(lowered), .type = std::move(type)});
}

OperandResult Lowering::Column(const arrow::FieldRef& reference) const {
  auto field = schema_.GetFieldByName(*reference.name());
  auto column = cp::field_ref(reference);
  auto type = ValueType(field->type());
  if (type->Equals(*field->type())) return Operand{std::move(column), std::move(field)};
  return Operand{CastTo(std::move(column), type), field->WithType(type)};
}

DtypeFamily CombinedFamily(const Operand& left, const Operand& right) {
  for (auto family : {DtypeFamily::kArrow, DtypeFamily::kMasked, DtypeFamily::kText}) {
    if (left.family() == family || right.family() == family) return family;
  }
  return DtypeFamily::kPlain;
}

TypePointer TypeBeside(const Operand& operand, const Operand& other) {
  const auto value = operand.literal();
  if (operand.id() == arrow::Type::NA) return other.type();
  if (value == nullptr || !value->is_valid || other.literal() != nullptr) {
    return operand.type();
  }
  switch (operand.id()) {
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
      if (arrow::is_floating(other.id())) return other.type();
      if (!arrow::is_integer(other.id())) return operand.type();
      return cp::Cast(value, other.type()).ok() ? other.type() : nullptr;
    case arrow::Type::DOUBLE:
      return arrow::is_floating(other.id()) ? other.type() : operand.type();
    default:
      return operand.type();
  }
}

ArrowExpression CastTo(ArrowExpression operand, const TypePointer& type) {
  return cp::call("cast", {std::move(operand)}, cp::CastOptions::Unsafe(type));
}

ArrowExpression As(const Operand& operand, const TypePointer& type) {
  if (operand.type()->Equals(*type)) return operand.arrow;
  // A time that the finer unit cannot hold is an error, not another time.
  const bool is_time =
      arrow::is_temporal(type->id()) || type->id() == arrow::Type::DURATION;
  auto options = is_time ? cp::CastOptions::Safe(type) : cp::CastOptions::Unsafe(type);
  if (const auto value = operand.literal()) {
    auto cast = cp::Cast(value, options);
    if (cast.ok()) return cp::literal(cast->scalar());
  }
  return cp::call("cast", {operand.arrow}, std::move(options));
}

arrow::TimeUnit::type UnitOf(const arrow::DataType& type) {
  return type.id() == arrow::Type::DURATION
             ? static_cast<const arrow::DurationType&>(type).unit()
             : static_cast<const arrow::TimestampType&>(type).unit();
}

ArrowExpression NullOf(const TypePointer& type) {
  return cp::literal(arrow::MakeNullScalar(type));
}

ArrowExpression NaNAsNull(const Operand& operand) {
  if (!arrow::is_floating(operand.id())) return operand.arrow;
  return cp::call("if_else", {cp::call("is_nan", {operand.arrow}), NullOf(operand.type()),
                              operand.arrow});
}

bool IsText(const arrow::DataType& type) {
  return arrow::is_string(type.id()) || type.id() == arrow::Type::STRING_VIEW;
}

arrow::Result<int64_t> IntegerOption(const Operand& operand) {
  const auto value = operand.literal();
  if (value == nullptr || operand.id() != arrow::Type::INT64 || !value->is_valid) {
    return arrow::Status::TypeError("expected an integer constant, not ",
                                    operand.arrow.ToString());
  }
  return static_cast<const arrow::Int64Scalar&>(*value).value;
}

arrow::Result<std::string> TextOption(const Operand& operand) {
  const auto value = operand.literal();
  if (value == nullptr || !value->is_valid || !IsText(*operand.type())) {
    return arrow::Status::TypeError("expected a text constant, not ",
                                    operand.arrow.ToString());
  }
  return std::string(static_cast<const arrow::BaseBinaryScalar&>(*value).view());
}

std::string DescribeType(const Operand& operand) {
  const std::string name = DtypeName(*operand.field);
  const std::string type = operand.type()->ToString();
  return name.empty() ? type : name + " (" + type + ")";
}

}  // namespace xshards
