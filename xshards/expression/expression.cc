// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/type.h>

#include "xshards/expression/compiler.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

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
  std::vector<ArrowExpression> compiled;
  for (auto& argument : arguments) compiled.push_back(std::move(argument.arrow_));
  return Expression(
      cp::call(std::move(function), std::move(compiled), std::move(options)));
}

arrow::Result<BoundExpression> Expression::Bind(const arrow::Schema& schema) const {
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
  const auto values = DecodedSchema(arrow::schema(schema.fields(), schema.metadata()));
  auto bind = [&]() -> arrow::Result<BoundExpression> {
    const Compiler compiler(*values);
    ARROW_ASSIGN_OR_RAISE(auto compiled, compiler.Compile(arrow_));
    ARROW_ASSIGN_OR_RAISE(auto bound, compiled.arrow.Bind(*values));
    auto required = compiler.required();
    for (auto& one : required) {
      ARROW_ASSIGN_OR_RAISE(one.arrow, one.arrow.Bind(*values));
    }
    auto field = arrow::field("", bound.type()->GetSharedPtr());
    const auto* call = arrow_.call();
    if (call != nullptr && call->function_name == "as_dtype") {
      return BoundExpression{std::move(bound),
                             field->WithMetadata(compiled.field->metadata()),
                             std::move(required)};
    }
    // Only the dtype: a label or index that a column had is not that of the result.
    return BoundExpression{std::move(bound), WithDtypeOf(field, *compiled.field),
                           std::move(required)};
  };
  auto bound = bind();
  if (bound.ok()) return bound;
  const auto code = bound.status().IsCapacityError() ? arrow::StatusCode::CapacityError
                                                     : arrow::StatusCode::TypeError;
  return arrow::Status::FromArgs(code, "Cannot compute ", ToString(), ": ",
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
