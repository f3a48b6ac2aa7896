// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression.h"

#include <algorithm>
#include <set>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/type.h>

namespace xshards {

namespace cp = arrow::compute;

namespace {

using ArrowExpression = cp::Expression;

ArrowExpression CastTo(ArrowExpression operand,
                       const std::shared_ptr<arrow::DataType>& type) {
  return cp::call("cast", {std::move(operand)}, cp::CastOptions::Unsafe(type));
}

std::shared_ptr<arrow::Scalar> LiteralScalar(const ArrowExpression& expression) {
  const arrow::Datum* literal = expression.literal();
  return literal != nullptr && literal->is_scalar() ? literal->scalar() : nullptr;
}

/// Give a plain number in `expression` the other operand's type, as numpy does, so that
/// int32 + 1 stays int32. A number that does not fit keeps its type and widens the other.
ArrowExpression WithWeakType(const ArrowExpression& expression,
                             const arrow::DataType& other) {
  auto scalar = LiteralScalar(expression);
  if (scalar == nullptr || !scalar->is_valid) return expression;
  const bool weak =
      scalar->type->id() == arrow::Type::INT64
          ? arrow::is_integer(other.id()) || arrow::is_floating(other.id())
          : scalar->type->id() == arrow::Type::DOUBLE && arrow::is_floating(other.id());
  if (!weak) return expression;
  auto cast = cp::Cast(scalar, other.GetSharedPtr());
  return cast.ok() ? cp::literal(cast->scalar()) : expression;
}

/// numpy keeps float32 only beside integers that it can hold.
bool IsWideInteger(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) && arrow::bit_width(type.id()) >= 32;
}

/// Rewrites calls so that Arrow's kernels give pandas' results.
class Lowering {
 public:
  explicit Lowering(const arrow::Schema& schema) : schema_(schema) {}

  arrow::Result<ArrowExpression> Lower(const ArrowExpression& expression) {
    const ArrowExpression::Call* call = expression.call();
    if (call == nullptr) return expression;
    std::vector<ArrowExpression> arguments;
    for (const auto& argument : call->arguments) {
      ARROW_ASSIGN_OR_RAISE(auto lowered, Lower(argument));
      arguments.push_back(std::move(lowered));
    }
    return LowerCall(*call, std::move(arguments));
  }

 private:
  arrow::Result<ArrowExpression> LowerCall(const ArrowExpression::Call& call,
                                           std::vector<ArrowExpression> arguments) {
    static const std::set<std::string> kComparisons = {"equal", "less", "less_equal",
                                                       "greater", "greater_equal"};
    static const std::set<std::string> kArithmetic = {"add", "subtract", "multiply",
                                                      "divide"};
    const std::string& name = call.function_name;
    if (kComparisons.contains(name) || name == "not_equal") {
      ARROW_RETURN_NOT_OK(WidenIntegers(arguments));
      ARROW_RETURN_NOT_OK(NarrowFloats(arguments));
    }
    if (name == "is_in" || name == "index_in") {
      return LowerLookup(call, std::move(arguments));
    }
    if (kComparisons.contains(name)) {
      return cp::call("coalesce", {cp::call(name, std::move(arguments), call.options),
                                   cp::literal(false)});
    }
    if (name == "not_equal") {
      return cp::call("coalesce", {cp::call(name, std::move(arguments), call.options),
                                   cp::literal(true)});
    }
    if (name == "is_null") {
      return cp::call(name, std::move(arguments), cp::NullOptions(/*nan_is_null=*/true));
    }
    if (kArithmetic.contains(name) && arguments.size() == 2) {
      return LowerArithmetic(name, std::move(arguments));
    }
    return cp::call(name, std::move(arguments), call.options);
  }

  arrow::Result<ArrowExpression> LowerArithmetic(const std::string& name,
                                                 std::vector<ArrowExpression> arguments) {
    ARROW_ASSIGN_OR_RAISE(auto left, TypeOf(arguments[0]));
    ARROW_ASSIGN_OR_RAISE(auto right, TypeOf(arguments[1]));
    ARROW_RETURN_NOT_OK(WidenIntegers(arguments));
    auto left_operand = WithWeakType(arguments[0], *right);
    auto right_operand = WithWeakType(arguments[1], *left);
    const auto whole = [](const arrow::DataType& type) {
      return arrow::is_integer(type.id()) || type.id() == arrow::Type::BOOL;
    };
    const bool plain = LiteralScalar(arguments[0]) || LiteralScalar(arguments[1]);
    if (!plain && (IsWideInteger(*left) ? *right : *left).id() == arrow::Type::FLOAT &&
        (IsWideInteger(*left) || IsWideInteger(*right))) {
      left_operand = CastTo(left_operand, arrow::float64());
      right_operand = CastTo(right_operand, arrow::float64());
    }
    if (name == "divide" && whole(*left) && whole(*right)) {
      left_operand = CastTo(left_operand, arrow::float64());
      right_operand = CastTo(right_operand, arrow::float64());
    }
    if (name == "add" && arrow::is_base_binary_like(left->id()) &&
        arrow::is_base_binary_like(right->id())) {
      auto separator = cp::literal(std::make_shared<arrow::LargeStringScalar>(""));
      return cp::call("binary_join_element_wise",
                      {left_operand, right_operand, separator});
    }
    return cp::call(name, {std::move(left_operand), std::move(right_operand)});
  }

  /// Integers meet a plain float as float64. Left alone, Arrow narrows the float to
  /// float32 where that looks harmless.
  arrow::Status WidenIntegers(std::vector<ArrowExpression>& arguments) {
    for (size_t i = 0; i < 2; ++i) {
      auto scalar = LiteralScalar(arguments[1 - i]);
      if (scalar == nullptr || scalar->type->id() != arrow::Type::DOUBLE) continue;
      ARROW_ASSIGN_OR_RAISE(auto type, TypeOf(arguments[i]));
      if (arrow::is_integer(type->id())) {
        arguments[i] = CastTo(arguments[i], arrow::float64());
      }
    }
    return arrow::Status::OK();
  }

  /// A plain float is compared with float32 as a float32, as numpy does.
  arrow::Status NarrowFloats(std::vector<ArrowExpression>& arguments) {
    for (size_t i = 0; i < 2; ++i) {
      ARROW_ASSIGN_OR_RAISE(auto other, TypeOf(arguments[1 - i]));
      if (other->id() == arrow::Type::FLOAT) {
        arguments[i] = WithWeakType(arguments[i], *other);
      }
    }
    return arrow::Status::OK();
  }

  /// Values of a kind the column cannot hold are never in it: text is not parsed to be
  /// found among numbers. An empty list has no type of its own.
  arrow::Result<ArrowExpression> LowerLookup(const ArrowExpression::Call& call,
                                             std::vector<ArrowExpression> arguments) {
    const auto& options = static_cast<const cp::SetLookupOptions&>(*call.options);
    ARROW_ASSIGN_OR_RAISE(auto type, TypeOf(arguments[0]));
    if (type->id() == arrow::Type::DICTIONARY) {
      type = static_cast<const arrow::DictionaryType&>(*type).value_type();
    }
    auto values = options.value_set.make_array();
    if (values->type_id() == arrow::Type::NA) {
      ARROW_ASSIGN_OR_RAISE(values, arrow::MakeArrayOfNull(type, values->length()));
    } else if (arrow::is_base_binary_like(type->id()) !=
               arrow::is_base_binary_like(values->type_id())) {
      ARROW_ASSIGN_OR_RAISE(values, arrow::MakeEmptyArray(type));
    }
    return cp::call(call.function_name, std::move(arguments),
                    cp::SetLookupOptions(values));
  }

  arrow::Result<std::shared_ptr<arrow::DataType>> TypeOf(
      const ArrowExpression& expression) {
    if (auto scalar = LiteralScalar(expression)) return scalar->type;
    ARROW_ASSIGN_OR_RAISE(auto bound, expression.Bind(schema_));
    return bound.type()->GetSharedPtr();
  }

  const arrow::Schema& schema_;
};

void CollectColumns(const ArrowExpression& expression, std::vector<std::string>& names) {
  if (const arrow::FieldRef* reference = expression.field_ref()) {
    const std::string& name = *reference->name();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  if (const auto* call = expression.call()) {
    for (const auto& argument : call->arguments) CollectColumns(argument, names);
  }
}

ArrowExpression Replace(
    const ArrowExpression& expression,
    const std::vector<std::pair<std::string, Expression>>& replacements) {
  if (const arrow::FieldRef* reference = expression.field_ref()) {
    for (const auto& [name, replacement] : replacements) {
      if (name == *reference->name()) return replacement.arrow();
    }
    return expression;
  }
  const auto* call = expression.call();
  if (call == nullptr) return expression;
  std::vector<ArrowExpression> arguments;
  for (const auto& argument : call->arguments) {
    arguments.push_back(Replace(argument, replacements));
  }
  return cp::call(call->function_name, std::move(arguments), call->options);
}

void CollectConjuncts(const ArrowExpression& expression, std::vector<Expression>& out) {
  const auto* call = expression.call();
  if (call != nullptr && call->function_name == "and_kleene") {
    for (const auto& argument : call->arguments) CollectConjuncts(argument, out);
  } else {
    out.emplace_back(expression);
  }
}

Expression Binary(const char* function, const Expression& left, const Expression& right) {
  return Expression::Call(function, {left, right});
}

}  // namespace

Expression Expression::Call(std::string function, std::vector<Expression> arguments,
                            std::shared_ptr<cp::FunctionOptions> options) {
  std::vector<ArrowExpression> lowered;
  for (auto& argument : arguments) lowered.push_back(std::move(argument.arrow_));
  return Expression(
      cp::call(std::move(function), std::move(lowered), std::move(options)));
}

arrow::Result<cp::Expression> Expression::Bind(const arrow::Schema& schema) const {
  for (const std::string& name : Columns()) {
    if (schema.GetFieldIndex(name) >= 0) continue;
    std::string known;
    for (const auto& field : schema.fields()) {
      known += (known.empty() ? "" : ", ") + field->name();
    }
    const bool twice = schema.GetAllFieldIndices(name).size() > 1;
    return arrow::Status::KeyError(
        twice ? "There are several columns named '" : "There is no column '", name,
        "'; there are: ", known);
  }
  auto bind = [&]() -> arrow::Result<cp::Expression> {
    ARROW_ASSIGN_OR_RAISE(auto lowered, Lowering(schema).Lower(arrow_));
    return lowered.Bind(schema);
  };
  auto bound = bind();
  if (bound.ok()) return bound;
  return arrow::Status::TypeError("Cannot compute ", ToString(), ": ",
                                  bound.status().message());
}

std::vector<std::string> Expression::Columns() const {
  std::vector<std::string> names;
  CollectColumns(arrow_, names);
  return names;
}

const std::string* Expression::column_name() const {
  const arrow::FieldRef* reference = arrow_.field_ref();
  return reference == nullptr ? nullptr : reference->name();
}

Expression Expression::Substitute(
    const std::vector<std::pair<std::string, Expression>>& replacements) const {
  return Expression(Replace(arrow_, replacements));
}

std::vector<Expression> Expression::Conjuncts() const {
  std::vector<Expression> parts;
  CollectConjuncts(arrow_, parts);
  return parts;
}

std::string Expression::ToString() const { return arrow_.ToString(); }

Expression Expression::IsNull() const { return Call("is_null", {*this}); }

Expression Expression::IsIn(const std::shared_ptr<arrow::Array>& values) const {
  return Call("is_in", {*this}, std::make_shared<cp::SetLookupOptions>(values));
}

Expression Expression::Cast(const std::shared_ptr<arrow::DataType>& type) const {
  return Call("cast", {*this},
              std::make_shared<cp::CastOptions>(cp::CastOptions::Safe(type)));
}

Expression col(std::string name) {
  return Expression(cp::field_ref(arrow::FieldRef(std::move(name))));
}

Expression lit(std::shared_ptr<arrow::Scalar> value) {
  return Expression(cp::literal(arrow::Datum(std::move(value))));
}

Expression operator+(const Expression& left, const Expression& right) {
  return Binary("add", left, right);
}
Expression operator-(const Expression& left, const Expression& right) {
  return Binary("subtract", left, right);
}
Expression operator*(const Expression& left, const Expression& right) {
  return Binary("multiply", left, right);
}
Expression operator/(const Expression& left, const Expression& right) {
  return Binary("divide", left, right);
}
Expression operator-(const Expression& operand) {
  return Expression::Call("negate", {operand});
}
Expression operator==(const Expression& left, const Expression& right) {
  return Binary("equal", left, right);
}
Expression operator!=(const Expression& left, const Expression& right) {
  return Binary("not_equal", left, right);
}
Expression operator<(const Expression& left, const Expression& right) {
  return Binary("less", left, right);
}
Expression operator<=(const Expression& left, const Expression& right) {
  return Binary("less_equal", left, right);
}
Expression operator>(const Expression& left, const Expression& right) {
  return Binary("greater", left, right);
}
Expression operator>=(const Expression& left, const Expression& right) {
  return Binary("greater_equal", left, right);
}
Expression operator&&(const Expression& left, const Expression& right) {
  return Binary("and_kleene", left, right);
}
Expression operator||(const Expression& left, const Expression& right) {
  return Binary("or_kleene", left, right);
}
Expression operator!(const Expression& operand) {
  return Expression::Call("invert", {operand});
}

}  // namespace xshards
