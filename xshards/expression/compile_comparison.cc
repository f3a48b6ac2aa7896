// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <arrow/array/builder_base.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>

#include "xshards/expression/compiler.h"
#include "xshards/expression/datetime_literal.h"
#include "xshards/types/common_type.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

using arrow::Type;

bool IsEquality(const std::string& function) {
  return function == "equal" || function == "not_equal";
}

bool IsNumber(const Operand& operand) {
  return arrow::is_integer(operand.id()) || arrow::is_floating(operand.id()) ||
         operand.id() == Type::BOOL;
}

/// The type that holds the numbers of both exactly, as far as numpy compares them
/// exactly: integers without a common integer type are compared as decimals.
TypePointer ComparedNumbers(const Operand& left, const Operand& right) {
  const auto left_type = TypeBeside(left, right);
  const auto right_type = TypeBeside(right, left);
  const auto& a = left_type == nullptr ? left.type() : left_type;
  const auto& b = right_type == nullptr ? right.type() : right_type;
  auto common = NumericCommonType(*a, *b);
  const bool integers = arrow::is_integer(a->id()) && arrow::is_integer(b->id());
  if (integers && arrow::is_floating(common->id())) return arrow::decimal128(20, 0);
  return common;
}

/// The finer unit; but the unit of a constant that it cannot represent, which is before
/// or after all times that it can.
arrow::TimeUnit::type ComparedUnit(const Operand& left, const Operand& right) {
  const auto finer = std::max(UnitOf(*left.type()), UnitOf(*right.type()));
  for (const Operand* operand : {&left, &right}) {
    const auto constant = operand->literal();
    if (constant == nullptr || !constant->is_valid) continue;
    const auto& type = *operand->type();
    const bool is_duration = type.id() == Type::DURATION;
    const auto zone =
        is_duration ? "" : static_cast<const arrow::TimestampType&>(type).timezone();
    const auto in_finer =
        is_duration ? arrow::duration(finer) : arrow::timestamp(finer, zone);
    if (!cp::Cast(constant, cp::CastOptions::Safe(in_finer)).ok()) return UnitOf(type);
  }
  return finer;
}

TypePointer ComparedTimes(const Operand& left, const Operand& right) {
  if (left.id() == Type::DURATION && right.id() == Type::DURATION) {
    return arrow::duration(ComparedUnit(left, right));
  }
  if (left.id() != Type::TIMESTAMP || right.id() != Type::TIMESTAMP) {
    const bool dates = (arrow::is_date(left.id()) || left.id() == Type::TIMESTAMP) &&
                       (arrow::is_date(right.id()) || right.id() == Type::TIMESTAMP);
    if (left.id() == right.id()) return left.type();
    return dates ? (left.id() == Type::TIMESTAMP ? left : right).type() : nullptr;
  }
  const auto& a = static_cast<const arrow::TimestampType&>(*left.type());
  const auto& b = static_cast<const arrow::TimestampType&>(*right.type());
  if (a.timezone().empty() != b.timezone().empty()) return nullptr;
  return arrow::timestamp(ComparedUnit(left, right), a.timezone().empty() ? "" : "UTC");
}

bool HasUnit(const arrow::DataType& type) {
  return type.id() == Type::DURATION || type.id() == Type::TIMESTAMP;
}

/// The operand as the type of the comparison. If that has a coarser unit, the truncated
/// part makes no difference: see ComparedUnit.
ArrowExpression Comparable(const Operand& operand, const TypePointer& type) {
  if (operand.id() == Type::BOOL && arrow::is_decimal(type->id())) {
    return CastTo(As(operand, arrow::int8()), type);
  }
  const bool is_cut = HasUnit(*operand.type()) && HasUnit(*type) &&
                      UnitOf(*operand.type()) > UnitOf(*type);
  return is_cut ? CastTo(operand.arrow, type) : As(operand, type);
}

/// nullptr if decimals cannot be compared with the other type.
TypePointer ComparedDecimals(const Operand& left, const Operand& right) {
  if (arrow::is_floating(left.id()) || arrow::is_floating(right.id())) {
    return arrow::float64();
  }
  return DecimalCommonType(*left.type(), *right.type());
}

/// The type in which two operands are compared; nullptr if they cannot be compared.
TypePointer ComparedType(const Operand& left, const Operand& right) {
  if (left.id() == Type::NA) return right.type();
  if (right.id() == Type::NA) return left.type();
  if (IsNumber(left) && IsNumber(right)) return ComparedNumbers(left, right);
  if (IsText(*left.type()) && IsText(*right.type())) return arrow::large_utf8();
  if (left.is_time() && right.is_time()) return ComparedTimes(left, right);
  if (arrow::is_decimal(left.id()) || arrow::is_decimal(right.id())) {
    return ComparedDecimals(left, right);
  }
  const auto basic = [](const Operand& operand) {
    return IsNumber(operand) || operand.is_time() || IsText(*operand.type());
  };
  if (basic(left) && basic(right)) return nullptr;
  // Binary and nested values are left to Arrow.
  return left.type();
}

/// Text is parsed as a time, in the zone of the column.
arrow::Result<Operand> ReadTime(Operand text, const Operand& time) {
  const auto value = text.literal();
  if (value == nullptr || time.id() != Type::TIMESTAMP || !IsText(*text.type()))
    return text;
  ARROW_ASSIGN_OR_RAISE(const auto written, TextOption(text));
  ARROW_ASSIGN_OR_RAISE(
      auto read,
      ReadTimeText(written, static_cast<const arrow::TimestampType&>(*time.type())));
  return Operand{cp::literal(read), arrow::field("", read->type)};
}

/// Comparing with a missing value is false, except `!=`; or stays missing.
OperandResult Compared(const Compiler& compiler, const std::string& function,
                       ArrowExpression left, ArrowExpression right, DtypeFamily family) {
  auto compared = cp::call(function, {std::move(left), std::move(right)});
  if (family == DtypeFamily::kText) family = DtypeFamily::kArrow;
  if (!HasMissingLogic(family)) {
    compared =
        cp::call("coalesce", {std::move(compared), cp::literal(function == "not_equal")});
  }
  return compiler.Typed(std::move(compared), family);
}

ArrowExpression Codes(const Operand& operand,
                      const std::shared_ptr<arrow::Array>& categories) {
  return cp::call("index_in", {As(operand, categories->type())},
                  cp::SetLookupOptions(categories));
}

OperandResult CompareCategoryWithConstant(const Compiler& compiler,
                                          const std::string& function,
                                          const Operand& left, const Operand& right) {
  const Operand& column = left.literal() == nullptr ? left : right;
  const auto constant = (left.literal() == nullptr ? right : left).literal();
  ARROW_ASSIGN_OR_RAISE(auto categories, CategoriesOf(*column.field));
  ARROW_ASSIGN_OR_RAISE(auto one, arrow::MakeArrayFromScalar(*constant, 1));
  auto codes = CategoryCodes(one, categories, arrow::default_memory_pool());
  if (!codes.ok() || (*codes)->IsNull(0)) {
    return arrow::Status::TypeError(constant->ToString(),
                                    " is not among the categories of ",
                                    DescribeOperand(column));
  }
  ARROW_ASSIGN_OR_RAISE(auto code, (*codes)->GetScalar(0));
  auto column_codes = Codes(column, categories);
  const bool is_left = &column == &left;
  return Compared(compiler, function, is_left ? column_codes : cp::literal(code),
                  is_left ? cp::literal(code) : column_codes, DtypeFamily::kPlain);
}

/// Compared in the order of the categories; unordered ones for equality only.
OperandResult CompareCategories(const Compiler& compiler, const std::string& function,
                                const Operand& left, const Operand& right) {
  const bool both = left.family() == right.family();
  if (both) {
    ARROW_ASSIGN_OR_RAISE(bool same, SameCategories(*left.field, *right.field));
    if (!same) {
      return arrow::Status::TypeError(
          "categorical columns can be compared only if they have the same categories");
    }
  }
  if (IsEquality(function)) {
    const auto type = ComparedType(left, right);
    if (type == nullptr) {
      return compiler.Typed(cp::literal(function == "not_equal"), DtypeFamily::kPlain);
    }
    return Compared(compiler, function, As(left, type), As(right, type),
                    DtypeFamily::kPlain);
  }
  const Operand& category = left.family() == DtypeFamily::kCategory ? left : right;
  if (!IsOrdered(*category.field)) {
    return arrow::Status::TypeError(
        "unordered categories can be compared by == and != only");
  }
  if (!both) {
    if (left.literal() == nullptr && right.literal() == nullptr) {
      return arrow::Status::TypeError("there is no order between ", DescribeType(left),
                                      " and ", DescribeType(right));
    }
    return CompareCategoryWithConstant(compiler, function, left, right);
  }
  ARROW_ASSIGN_OR_RAISE(auto categories, CategoriesOf(*left.field));
  return Compared(compiler, function, Codes(left, categories), Codes(right, categories),
                  DtypeFamily::kPlain);
}

/// A value cast to a type; nullptr if the cast is not exact.
std::shared_ptr<arrow::Scalar> ExactValue(const std::shared_ptr<arrow::Scalar>& value,
                                          const TypePointer& type) {
  auto from = value;
  if (arrow::is_decimal(type->id())) {
    if (value->type->id() == Type::DOUBLE) {
      return ExactDecimal(static_cast<const arrow::DoubleScalar&>(*value).value, *type);
    }
    // Arrow requires a decimal that holds all integers of the type.
    const auto wide = DecimalCommonType(*value->type, *type);
    if (arrow::is_integer(value->type->id())) {
      auto widened = cp::Cast(value, wide);
      if (!widened.ok()) return nullptr;
      from = widened->scalar();
    }
  }
  auto cast = cp::Cast(from, type);
  if (!cast.ok()) return nullptr;
  auto back = cp::Cast(*cast, from->type);
  const auto nan_is_nan = arrow::EqualOptions::Defaults().nans_equal(true);
  if (!back.ok() || !back->scalar()->Equals(*from, nan_is_nan)) return nullptr;
  return cast->scalar();
}

bool IsTimeType(const arrow::DataType& type) {
  return arrow::is_temporal(type.id()) || type.id() == Type::DURATION;
}

/// Zero of the other sign, which is equal to it but not found by its bits; nullptr for
/// all other values.
std::shared_ptr<arrow::Scalar> OtherZero(const arrow::Scalar& value) {
  if (value.type->id() == Type::DOUBLE) {
    const double number = static_cast<const arrow::DoubleScalar&>(value).value;
    if (number == 0) return std::make_shared<arrow::DoubleScalar>(-number);
  } else if (value.type->id() == Type::FLOAT) {
    const float number = static_cast<const arrow::FloatScalar&>(value).value;
    if (number == 0) return std::make_shared<arrow::FloatScalar>(-number);
  }
  return nullptr;
}

/// The values that a type represents exactly, cast to it: 1.5 is in no column of
/// integers, text is not parsed as numbers, and numbers are no times.
arrow::Result<std::shared_ptr<arrow::Array>> ExactValues(const arrow::Array& values,
                                                         const TypePointer& type,
                                                         bool keep_missing) {
  ARROW_ASSIGN_OR_RAISE(auto builder, arrow::MakeBuilder(type));
  const bool is_other_kind = IsText(*type) != IsText(*values.type()) ||
                             IsTimeType(*type) != IsTimeType(*values.type());
  for (int64_t i = 0; i < values.length(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto value, values.GetScalar(i));
    if (!value->is_valid) {
      if (keep_missing) ARROW_RETURN_NOT_OK(builder->AppendNull());
      continue;
    }
    if (is_other_kind) continue;
    const auto exact = ExactValue(value, type);
    if (exact == nullptr) continue;
    ARROW_RETURN_NOT_OK(builder->AppendScalar(*exact));
    if (const auto zero = OtherZero(*exact)) {
      ARROW_RETURN_NOT_OK(builder->AppendScalar(*zero));
    }
  }
  return builder->Finish();
}

}  // namespace

OperandResult CompileComparison(const Compiler& compiler,
                                const ArrowExpression::Call& call,
                                std::vector<Operand> arguments) {
  const std::string& function = call.function_name;
  ARROW_ASSIGN_OR_RAISE(auto left, ReadTime(arguments[0], arguments[1]));
  ARROW_ASSIGN_OR_RAISE(auto right, ReadTime(arguments[1], arguments[0]));
  if (left.family() == DtypeFamily::kCategory ||
      right.family() == DtypeFamily::kCategory) {
    return CompareCategories(compiler, function, left, right);
  }
  const auto type = ComparedType(left, right);
  const auto family = CombinedFamily(left, right);
  if (HasMissingLogic(family)) {  // NaN of a plain column is also missing
    left.arrow = NaNAsNull(left);
    right.arrow = NaNAsNull(right);
  } else if (auto exact = CompareWithFloat(function, left, right)) {
    if (IsEquality(function) && exact->never_equal) {
      return compiler.Typed(cp::literal(function == "not_equal"), family);
    }
    return Compared(compiler, exact->function, std::move(exact->decimal),
                    std::move(exact->constant), family);
  }
  if (type != nullptr && type->id() != arrow::Type::NA) {
    return Compared(compiler, function, Comparable(left, type), Comparable(right, type),
                    family);
  }
  if (!IsEquality(function)) {
    return arrow::Status::TypeError("there is no order between ", DescribeType(left),
                                    " and ", DescribeType(right));
  }
  return compiler.Typed(cp::literal(function == "not_equal"), family);
}

OperandResult CompileIsNull(const Compiler& compiler, const ArrowExpression::Call& call,
                            std::vector<Operand> arguments) {
  return compiler.Typed(cp::call(call.function_name, {arguments[0].arrow},
                                 cp::NullOptions(/*nan_is_null=*/true)),
                        DtypeFamily::kPlain);
}

OperandResult CompileIsIn(const Compiler& compiler, const ArrowExpression::Call& call,
                          std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  const bool masked = operand.family() == DtypeFamily::kMasked;
  const auto& options = static_cast<const cp::SetLookupOptions&>(*call.options);
  ARROW_ASSIGN_OR_RAISE(auto values,
                        ExactValues(*options.value_set.make_array(), operand.type(),
                                    /*keep_missing=*/!masked));
  return compiler.Typed(cp::call("is_in", {operand.arrow}, cp::SetLookupOptions(values)),
                        masked ? DtypeFamily::kMasked : DtypeFamily::kPlain);
}

/// Values keep their positions, so none is dropped. A value that the column's type cannot
/// represent is never found: text is not parsed as numbers.
OperandResult CompileIndexIn(const Compiler& compiler, const ArrowExpression::Call& call,
                             std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  const auto type = ValueType(operand.type());
  const auto& options = static_cast<const cp::SetLookupOptions&>(*call.options);
  auto values = options.value_set.make_array();
  if (values->type_id() == Type::NA) {
    ARROW_ASSIGN_OR_RAISE(values, arrow::MakeArrayOfNull(type, values->length()));
  } else if (arrow::is_base_binary_like(type->id()) !=
             arrow::is_base_binary_like(values->type_id())) {
    ARROW_ASSIGN_OR_RAISE(values, arrow::MakeEmptyArray(type));
  }
  return compiler.Typed(
      cp::call("index_in", {operand.arrow}, cp::SetLookupOptions(values)),
      DtypeFamily::kPlain);
}

OperandResult CompileLogic(const Compiler& compiler, const ArrowExpression::Call& call,
                           std::vector<Operand> arguments) {
  const Operand& left = arguments[0];
  const Operand& right = arguments[1];
  const DtypeFamily family = CombinedFamily(left, right);
  if (arrow::is_integer(left.id()) && arrow::is_integer(right.id())) {
    const bool is_and = call.function_name == "and_kleene";
    const auto left_type = TypeBeside(left, right);
    const auto right_type = TypeBeside(right, left);
    auto type = left_type == nullptr || right_type == nullptr
                    ? nullptr
                    : NumericCommonType(*left_type, *right_type);
    if (type == nullptr || !arrow::is_integer(type->id())) {
      return arrow::Status::TypeError("no common integer type for the bits of ",
                                      DescribeType(left), " and ", DescribeType(right));
    }
    return compiler.Typed(cp::call(is_and ? "bit_wise_and" : "bit_wise_or",
                                   {As(left, type), As(right, type)}),
                          family);
  }
  for (const Operand& operand : arguments) {
    if (operand.id() == Type::BOOL || operand.id() == Type::NA) continue;
    return arrow::Status::TypeError("& and | need booleans, got ", DescribeType(operand));
  }
  auto both = cp::call(call.function_name,
                       {As(left, arrow::boolean()), As(right, arrow::boolean())});
  if (!HasMissingLogic(family)) {
    both = cp::call("coalesce", {std::move(both), cp::literal(false)});
  }
  return compiler.Typed(std::move(both), family);
}

OperandResult CompileInvert(const Compiler& compiler, const ArrowExpression::Call& call,
                            std::vector<Operand> arguments) {
  const Operand& operand = arguments[0];
  const char* function =
      arrow::is_integer(operand.id()) ? "bit_wise_not" : call.function_name.c_str();
  return compiler.Typed(cp::call(function, {operand.arrow}), operand.family());
}

}  // namespace xshards
