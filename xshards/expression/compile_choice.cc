// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>

#include "xshards/expression/compiler.h"
#include "xshards/types/common_type.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

using arrow::Type;

/// The field of categories whose missing values, or some others, become a constant. As in
/// pandas it must be one of them.
arrow::Result<std::shared_ptr<arrow::Field>> CategoryField(
    const Operand& values, const arrow::Scalar& constant) {
  ARROW_ASSIGN_OR_RAISE(const auto categories, CategoriesOf(*values.field));
  const auto cast = cp::Cast(constant.GetSharedPtr(), categories->type());
  if (cast.ok()) {
    const cp::SetLookupOptions options(categories, cp::SetLookupOptions::SKIP);
    ARROW_ASSIGN_OR_RAISE(const auto found, cp::IsIn(*cast, options));
    if (found.scalar_as<arrow::BooleanScalar>().value) return values.field;
  }
  return arrow::Status::TypeError("column '", values.field->name(),
                                  "' has no such category, use one it has: got ",
                                  constant.ToString());
}

/// The type of times that are combined with a constant, which takes their unit and zone
/// if none of it is lost; nullptr for all else.
TypePointer TypeBesideTime(const Operand& values, const arrow::Scalar& constant) {
  if (values.id() != constant.type->id()) return nullptr;
  if (values.id() == Type::TIMESTAMP) {
    const auto is_zoned = [](const arrow::DataType& type) {
      return !static_cast<const arrow::TimestampType&>(type).timezone().empty();
    };
    if (is_zoned(*values.type()) != is_zoned(*constant.type)) return nullptr;
  } else if (values.id() != Type::DURATION) {
    return nullptr;
  }
  const bool fits = cp::Cast(constant.GetSharedPtr(), values.type()).ok();
  return fits ? values.type() : nullptr;
}

/// The field that holds both the values and their replacements.
arrow::Result<std::shared_ptr<arrow::Field>> FieldOfBoth(const Operand& values,
                                                         const Operand& other) {
  if (other.id() == Type::NA) return values.field;
  if (const auto constant = other.literal(); constant != nullptr && constant->is_valid) {
    if (values.family() == DtypeFamily::kCategory) {
      return CategoryField(values, *constant);
    }
    if (TypeBesideTime(values, *constant) != nullptr) return values.field;
  }
  const auto weak = TypeBeside(other, values);
  if (weak != nullptr && weak->Equals(*values.type()) &&
      values.family() != DtypeFamily::kCategory) {
    return values.field;
  }
  return CommonField(values.field->WithName(""), other.field->WithName(""));
}

Operand InField(ArrowExpression compiled, const std::shared_ptr<arrow::Field>& field) {
  return {std::move(compiled), field};
}

/// A condition in which missing means false.
arrow::Result<ArrowExpression> Condition(const Operand& operand) {
  if (operand.id() != Type::BOOL) {
    return arrow::Status::TypeError("a condition must be boolean, got ",
                                    DescribeType(operand));
  }
  return cp::call("coalesce", {operand.arrow, cp::literal(false)});
}

OperandResult ToBoolean(const Compiler& compiler, const Operand& operand,
                        DtypeFamily family) {
  if (operand.id() == Type::BOOL) return compiler.Typed(operand.arrow, family);
  auto zero =
      As({cp::literal(int64_t{0}), arrow::field("", arrow::int64())}, operand.type());
  // NaN is true to numpy, but missing where there is a mask.
  const auto& number = HasMissingLogic(family) ? NaNAsNull(operand) : operand.arrow;
  auto value = cp::call("not_equal", {number, std::move(zero)});
  if (!HasMissingLogic(family)) {
    value = cp::call("coalesce", {std::move(value), cp::literal(true)});
  }
  return compiler.Typed(std::move(value), family);
}

/// Floats of a type with NaN instead of null.
ArrowExpression NullAsNaN(ArrowExpression floats, const TypePointer& type) {
  const Operand nan{cp::literal(std::nan("")), arrow::field("", arrow::float64())};
  return cp::call("coalesce", {std::move(floats), As(nan, type)});
}

ArrowExpression BooleanText(const Operand& operand) {
  const auto text = [](const char* value) {
    return cp::literal(std::make_shared<arrow::LargeStringScalar>(value));
  };
  return cp::call("if_else", {operand.arrow, text("True"), text("False")});
}

bool IsNumber(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_floating(type.id()) ||
         type.id() == Type::BOOL;
}

DtypeFamily FamilyNamed(const std::string& dtype, const TypePointer& type) {
  return FamilyOf(*WithDtype(arrow::field("", type), dtype));
}

/// Whether floats are in the range of an unsigned type. Errors name those that are not,
/// so these are not truncated.
ArrowExpression IsUnsigned(const ArrowExpression& values, const arrow::DataType& type) {
  const double upper_bound = std::ldexp(1.0, type.bit_width());
  return cp::call("and_kleene", {cp::call("greater_equal", {values, cp::literal(0.0)}),
                                 cp::call("less", {values, cp::literal(upper_bound)})});
}

/// Whether a constant limit lies outside the values' integer type on the side where it
/// limits nothing.
bool LimitsNothing(const Operand& values, const Operand& limit, bool is_lower) {
  const auto constant = limit.literal();
  if (constant == nullptr || !constant->is_valid || limit.id() != Type::INT64 ||
      !arrow::is_integer(values.id())) {
    return false;
  }
  const bool is_negative = static_cast<const arrow::Int64Scalar&>(*constant).value < 0;
  return is_negative == is_lower && !cp::Cast(constant, values.type()).ok();
}

}  // namespace

OperandResult CompileChoose(const Compiler& compiler, const ArrowExpression::Call&,
                            std::vector<Operand> arguments) {
  ARROW_ASSIGN_OR_RAISE(auto condition, Condition(arguments[0]));
  const Operand& values = arguments[1];
  const Operand& other = arguments[2];
  ARROW_ASSIGN_OR_RAISE(auto field, FieldOfBoth(values, other));
  auto chosen = cp::call("if_else", {std::move(condition), As(values, field->type()),
                                     As(other, field->type())});
  ARROW_ASSIGN_OR_RAISE(auto typed, compiler.Typed(chosen, DtypeFamily::kPlain));
  return InField(std::move(typed.arrow), field);
}

OperandResult CompileFillMissing(const Compiler& compiler, const ArrowExpression::Call&,
                                 std::vector<Operand> arguments) {
  const Operand& values = arguments[0];
  ARROW_ASSIGN_OR_RAISE(auto field, FieldOfBoth(values, arguments[1]));
  Operand known{NaNAsNull(values), values.field};
  auto filled =
      cp::call("coalesce", {As(known, field->type()), As(arguments[1], field->type())});
  ARROW_ASSIGN_OR_RAISE(auto typed, compiler.Typed(filled, DtypeFamily::kPlain));
  return InField(std::move(typed.arrow), field);
}

OperandResult CompileClip(const Compiler& compiler, const ArrowExpression::Call& call,
                          std::vector<Operand> arguments) {
  const Operand& values = arguments[0];
  const Operand& limit = arguments[1];
  const bool is_lower = call.function_name == "clip_lower";
  if (LimitsNothing(values, limit, is_lower)) return values;
  ARROW_ASSIGN_OR_RAISE(auto field, FieldOfBoth(values, limit));
  const auto value = As(values, field->type());
  const auto bound = As(limit, field->type());
  const char* beyond = is_lower ? "less" : "greater";
  auto clips =
      cp::call("coalesce", {cp::call(beyond, {value, bound}), cp::literal(false)});
  auto clipped = cp::call("if_else", {std::move(clips), bound, value});
  ARROW_ASSIGN_OR_RAISE(auto typed, compiler.Typed(clipped, DtypeFamily::kPlain));
  return InField(std::move(typed.arrow), field);
}

OperandResult CompileAsType(const Compiler& compiler, const ArrowExpression::Call& call,
                            std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  ARROW_ASSIGN_OR_RAISE(const auto dtype, TextOption(arguments[1]));
  const auto& options = static_cast<const cp::CastOptions&>(*call.options);
  const TypePointer type = options.to_type.GetSharedPtr();
  const auto family = FamilyNamed(dtype, type);
  ARROW_ASSIGN_OR_RAISE(const bool may_be_missing, IntegerOption(arguments[2]));
  if (type->id() == Type::BOOL && IsNumber(*operand.type())) {
    return ToBoolean(compiler, operand, family);
  }
  if (operand.id() == Type::BOOL && IsText(*type)) {
    return compiler.Typed(BooleanText(operand), family);
  }
  if (IsText(*type) && operand.id() == Type::DURATION) {
    // pandas looks at all values to choose a format: '1 days' or '1 days 00:00:00'.
    return arrow::Status::NotImplemented(
        "the text of durations depends on all values of a column, which an expression "
        "does not see: use astype of the shards");
  }
  // numpy truncates fractions and wraps integers; the nullable dtypes fail.
  const bool cuts =
      !HasMissingLogic(family) && IsNumber(*type) && IsNumber(*operand.type());
  const bool has_no_nan = arrow::is_integer(type->id()) || IsText(*type);
  // Casting a float out of range depends on the processor: that is an error.
  const bool checks_range =
      arrow::is_floating(operand.id()) && arrow::is_integer(type->id());
  auto values = has_no_nan && may_be_missing ? NaNAsNull(operand) : operand.arrow;
  if (!may_be_missing && !checks_range) compiler.Require(values, type);
  if (cuts && checks_range) {
    // pandas rejects negative floats for unsigned integers, even those that truncate to
    // 0.
    const bool is_signed = arrow::is_signed_integer(type->id());
    const bool is_half = operand.id() == Type::HALF_FLOAT;  // which Arrow cannot truncate
    const TypePointer floats = is_half ? arrow::float32() : operand.type();
    if (is_half) {
      values = cp::call("cast", {std::move(values)}, cp::CastOptions::Safe(floats));
    }
    if (!may_be_missing) values = NullAsNaN(std::move(values), floats);  // is rejected
    auto cut = cp::call("trunc", {values});
    values = is_signed ? std::move(cut)
                       : cp::call("if_else",
                                  {IsUnsigned(values, *type), std::move(cut), values});
  }
  auto cast = cp::call("cast", {std::move(values)},
                       cuts && !checks_range ? cp::CastOptions::Unsafe(type)
                                             : cp::CastOptions::Safe(type));
  ARROW_ASSIGN_OR_RAISE(auto typed, compiler.Typed(cast, DtypeFamily::kPlain));
  return InField(std::move(typed.arrow), WithDtype(typed.field, dtype));
}

/// The cast of a column in a union: the dtype's metadata follow as pairs.
OperandResult CompileAsDtype(const Compiler& compiler, const ArrowExpression::Call& call,
                             std::vector<Operand> arguments) {
  const auto& options = static_cast<const cp::CastOptions&>(*call.options);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 1; i + 1 < arguments.size(); i += 2) {
    ARROW_ASSIGN_OR_RAISE(auto key, TextOption(arguments[i]));
    ARROW_ASSIGN_OR_RAISE(auto value, TextOption(arguments[i + 1]));
    pairs.emplace_back(std::move(key), std::move(value));
  }
  const Operand& operand = arguments[0];
  const TypePointer type = options.to_type.GetSharedPtr();
  if (operand.type()->Equals(*type)) {  // Arrow casts no nulls to nulls
    return InField(operand.arrow, WithDtypePairs(operand.field->RemoveMetadata(), pairs));
  }
  ARROW_ASSIGN_OR_RAISE(
      auto cast,
      compiler.Typed(cp::call("cast", {operand.arrow}, options), DtypeFamily::kPlain));
  return InField(std::move(cast.arrow), WithDtypePairs(cast.field, pairs));
}

}  // namespace xshards
