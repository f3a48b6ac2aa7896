// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/compiler.h"

#include <map>
#include <utility>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>

#include "xshards/expression/expression_graph.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

/// What is larger than this is computed once, by a step: rules may use an operand several
/// times, so that chains of them would grow exponentially.
constexpr double kMaxCalls = 16;

/// Arrow's function unchanged; the family of dtypes is that of its arguments.
OperandResult CompilePlainCall(const Compiler& compiler,
                               const ArrowExpression::Call& call,
                               std::vector<Operand> arguments) {
  std::vector<ArrowExpression> compiled;
  DtypeFamily family = DtypeFamily::kPlain;
  for (auto& argument : arguments) {
    if (HasMissingLogic(argument.family())) family = argument.family();
    compiled.push_back(std::move(argument.arrow));
  }
  return compiler.Typed(cp::call(call.function_name, std::move(compiled), call.options),
                        family);
}

OperandResult CompileCast(const Compiler& compiler, const ArrowExpression::Call& call,
                          std::vector<Operand> arguments) {
  return compiler.Typed(
      cp::call(call.function_name, {std::move(arguments[0].arrow)}, call.options),
      DtypeFamily::kPlain);
}

const std::map<std::string, Rule>& Rules() {
  static const std::map<std::string, Rule> rules = {
      {"add", CompileArithmetic},
      {"subtract", CompileArithmetic},
      {"multiply", CompileArithmetic},
      {"divide", CompileArithmetic},
      {"floor_divide", CompileArithmetic},
      {"modulo", CompileArithmetic},
      {"power", CompileArithmetic},
      {"negate", CompileNegate},
      {"abs", CompileAbs},
      {"round", CompileRound},
      {"equal", CompileComparison},
      {"not_equal", CompileComparison},
      {"less", CompileComparison},
      {"less_equal", CompileComparison},
      {"greater", CompileComparison},
      {"greater_equal", CompileComparison},
      {"and_kleene", CompileLogic},
      {"or_kleene", CompileLogic},
      {"invert", CompileInvert},
      {"is_null", CompileIsNull},
      {"is_in", CompileIsIn},
      {"index_in", CompileIndexIn},
      {"cast", CompileCast},
      {"as_type", CompileAsType},
      {"as_dtype", CompileAsDtype},
      {"choose", CompileChoose},
      {"fill_missing", CompileFillMissing},
      {"clip_lower", CompileClip},
      {"clip_upper", CompileClip},
      {"starts_with", CompileTextMatch},
      {"ends_with", CompileTextMatch},
      {"match_substring", CompileTextMatch},
      {"match_substring_regex", CompileTextMatch},
      {"utf8_is_alnum", CompileTextMatch},
      {"utf8_is_alpha", CompileTextMatch},
      {"utf8_is_decimal", CompileTextMatch},
      {"utf8_is_digit", CompileTextMatch},
      {"utf8_is_lower", CompileTextMatch},
      {"utf8_is_numeric", CompileTextMatch},
      {"utf8_is_space", CompileTextMatch},
      {"utf8_is_title", CompileTextMatch},
      {"utf8_is_upper", CompileTextMatch},
      {"string_is_ascii", CompileTextMatch},
      {"text_slice", CompileTextSlice},
      {"text_pad", CompileTextPad},
      {"text_zero_fill", CompileTextZeroFill},
      {"text_count", CompileTextCount},
      {"text_replace_slice", CompileTextReplaceSlice},
      {"text_strip", CompileTextStrip},
      {"text_split", CompileTextSplit},
      {"text_extract", CompileTextExtract},
      {"list_get", CompileListGet},
      {"year", CompileTimeField},
      {"quarter", CompileTimeField},
      {"month", CompileTimeField},
      {"day", CompileTimeField},
      {"day_of_year", CompileTimeField},
      {"day_of_week", CompileTimeField},
      {"iso_year", CompileTimeField},
      {"iso_week", CompileTimeField},
      {"hour", CompileTimeField},
      {"minute", CompileTimeField},
      {"second", CompileTimeField},
      {"microsecond", CompileTimeField},
      {"date", CompileDate},
      {"normalize", CompileNormalize},
      {"nanosecond", CompileTimeField},
      {"floor_temporal", CompileRoundTime},
      {"ceil_temporal", CompileRoundTime},
      {"strftime", CompileStrftime},
      {"days_in_month", CompileDaysInMonth},
      {"is_leap_year", CompileIsLeapYear},
      {"convert_zone", CompileConvertZone},
      {"assume_zone", CompileAssumeZone},
      {"total_seconds", CompileDurationPart},
      {"duration_days", CompileDurationPart},
      {"duration_seconds", CompileDurationPart},
      {"duration_microseconds", CompileDurationPart},
  };
  return rules;
}

}  // namespace

std::shared_ptr<arrow::Scalar> Operand::literal() const {
  const arrow::Datum* value = arrow.literal();
  return value != nullptr && value->is_scalar() ? value->scalar() : nullptr;
}

OperandResult Compiler::Compile(const ArrowExpression& expression) {
  if (expression.call() == nullptr) return CompileLeaf(expression);
  const auto shared = SharedCalls(expression);
  std::unordered_map<const ArrowCall*, Operand> compiled;
  arrow::Status status;
  ForEachCall(expression, [&](const ArrowExpression& part) {
    if (!status.ok()) return;
    const ArrowCall* call = part.call();
    auto operand = CompileCall(*call, compiled);
    const bool is_whole = call == expression.call();
    if (operand.ok() && !is_whole &&
        (shared.contains(call) || NumWrittenCalls(operand->arrow) > kMaxCalls)) {
      operand = AddStep(*operand);
    }
    status = operand.status();
    if (status.ok()) compiled.emplace(call, operand.MoveValueUnsafe());
  });
  ARROW_RETURN_NOT_OK(status);
  return compiled.at(expression.call());
}

OperandResult Compiler::CompileLeaf(const ArrowExpression& expression) const {
  const arrow::FieldRef* reference = expression.field_ref();
  return reference != nullptr ? Column(*reference)
                              : Typed(expression, DtypeFamily::kPlain);
}

OperandResult Compiler::CompileCall(
    const ArrowCall& call,
    const std::unordered_map<const ArrowCall*, Operand>& compiled) const {
  std::vector<Operand> arguments;
  for (const auto& argument : call.arguments) {
    const auto known = compiled.find(argument.call());
    if (known != compiled.end()) {
      arguments.push_back(known->second);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto leaf, CompileLeaf(argument));
    arguments.push_back(std::move(leaf));
  }
  for (const auto& argument : arguments) {
    if (!IsOpaque(*argument.field) || call.function_name == "is_null") continue;
    return arrow::Status::TypeError("column '", argument.field->name(),
                                    "' holds Python objects, which only a Python "
                                    "function can read: use transform_shard");
  }
  const auto rule = Rules().find(call.function_name);
  return rule == Rules().end() ? CompilePlainCall(*this, call, std::move(arguments))
                               : rule->second(*this, call, std::move(arguments));
}

OperandResult Compiler::AddStep(const Operand& operand) {
  if (operand.arrow.call() == nullptr) return operand;
  ARROW_ASSIGN_OR_RAISE(auto bound, operand.arrow.Bind(*schema_));
  if (!operand.type()->Equals(*bound.type())) return operand;
  const int index = schema_->num_fields();
  auto fields = schema_->fields();
  fields.push_back(arrow::field("", operand.type()));
  schema_ = arrow::schema(std::move(fields));
  steps_.push_back(std::move(bound));
  return Operand{cp::field_ref(arrow::FieldRef(index)), operand.field};
}

OperandResult Compiler::Typed(ArrowExpression compiled, DtypeFamily family) const {
  TypePointer type;
  const arrow::Datum* literal = compiled.literal();
  if (literal != nullptr && literal->is_scalar()) {
    type = literal->type();
  } else {
    ARROW_ASSIGN_OR_RAISE(auto bound, compiled.Bind(*schema_));
    type = bound.type()->GetSharedPtr();
  }
  auto field = WithDtype(arrow::field("", type), DtypeNameIn(family, *type));
  return Operand{std::move(compiled), std::move(field)};
}

void Compiler::Require(ArrowExpression compiled, TypePointer type) const {
  required_.push_back({.arrow = std::move(compiled), .type = std::move(type)});
}

OperandResult Compiler::Column(const arrow::FieldRef& reference) const {
  const int index = schema_->GetFieldIndex(*reference.name());
  const auto& field = schema_->field(index);
  auto column = cp::field_ref(arrow::FieldRef(index));
  auto type = ValueType(field->type());
  if (type->Equals(*field->type())) return Operand{std::move(column), field};
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
  // A time out of range of the finer unit is an error, not a wrapped value.
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
    return arrow::Status::TypeError("expected an integer constant, got ",
                                    DescribeOperand(operand));
  }
  return static_cast<const arrow::Int64Scalar&>(*value).value;
}

arrow::Result<std::string> TextOption(const Operand& operand) {
  const auto value = operand.literal();
  if (value == nullptr || !value->is_valid || !IsText(*operand.type())) {
    return arrow::Status::TypeError("expected a text constant, got ",
                                    DescribeOperand(operand));
  }
  return std::string(static_cast<const arrow::BaseBinaryScalar&>(*value).view());
}

std::string DescribeOperand(const Operand& operand) {
  const bool is_column =
      operand.arrow.field_ref() != nullptr && !operand.field->name().empty();
  return is_column ? operand.field->name() : operand.arrow.ToString();
}

std::string DescribeType(const Operand& operand) {
  const std::string name = DtypeName(*operand.field);
  const std::string type = operand.type()->ToString();
  return name.empty() ? type : name + " (" + type + ")";
}

}  // namespace xshards
