// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/type.h>

#include "xshards/expression/compiler.h"
#include "xshards/expression/expression_graph.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

/// Written out up to this size, a larger one with its shared parts apart.
constexpr double kMaxWrittenCalls = 64;

arrow::Result<int> IndexOf(const std::string& name, const arrow::Schema& schema) {
  const int index = schema.GetFieldIndex(name);
  if (index >= 0) return index;
  std::string known;
  for (const auto& field : schema.fields()) {
    known += (known.empty() ? "" : ", ") + field->name();
  }
  const bool twice = schema.GetAllFieldIndices(name).size() > 1;
  return arrow::Status::KeyError(
      twice ? "There are several columns named '" : "There is no column '", name,
      "'; there are: ", known);
}

/// The type and dtype of an expression's result.
std::shared_ptr<arrow::Field> ResultField(const ArrowExpression& source,
                                          const ArrowExpression& bound,
                                          const arrow::Field& compiled) {
  auto field = arrow::field("", bound.type()->GetSharedPtr());
  const auto* call = source.call();
  if (call != nullptr && call->function_name == "as_dtype") {
    return field->WithMetadata(compiled.metadata());
  }
  // Only the dtype: the result does not inherit a column's label or index.
  return WithDtypeOf(field, compiled);
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
  BoundExpression made;
  // Only the columns that it reads: tables may have thousands.
  arrow::FieldVector fields;
  for (const std::string& name : Columns()) {
    ARROW_ASSIGN_OR_RAISE(const int index, IndexOf(name, schema));
    made.columns.push_back(index);
    const auto& field = schema.field(index);
    fields.push_back(IsEncoded(*field) ? field->WithType(ValueType(field->type()))
                                       : field);
  }
  Compiler compiler(std::move(fields));
  const auto compile = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto compiled, compiler.Compile(arrow_));
    ARROW_ASSIGN_OR_RAISE(made.arrow, compiled.arrow.Bind(compiler.schema()));
    made.steps = compiler.steps();
    made.required = compiler.required();
    for (auto& one : made.required) {
      ARROW_ASSIGN_OR_RAISE(one.arrow, one.arrow.Bind(compiler.schema()));
    }
    made.field = ResultField(arrow_, made.arrow, *compiled.field);
    return arrow::Status::OK();
  };
  const auto status = compile();
  if (status.ok()) return made;
  const auto code = status.IsCapacityError() ? arrow::StatusCode::CapacityError
                                             : arrow::StatusCode::TypeError;
  return arrow::Status::FromArgs(code, "Cannot compute ", ToString(), ": ",
                                 status.message());
}

std::vector<std::string> Expression::Columns() const {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen_names;
  std::unordered_set<const ArrowCall*> seen_calls;
  std::vector<const ArrowExpression*> left = {&arrow_};
  while (!left.empty()) {
    const ArrowExpression& part = *left.back();
    left.pop_back();
    const arrow::FieldRef* reference = part.field_ref();
    if (reference != nullptr && seen_names.insert(*reference->name()).second) {
      names.push_back(*reference->name());
    }
    const auto* call = part.call();
    if (call == nullptr || !seen_calls.insert(call).second) continue;
    for (auto it = call->arguments.rbegin(); it != call->arguments.rend(); ++it) {
      left.push_back(&*it);
    }
  }
  return names;
}

const std::string* Expression::column_name() const {
  const arrow::FieldRef* reference = arrow_.field_ref();
  return reference == nullptr ? nullptr : reference->name();
}

Expression Expression::Substitute(const Replacements& replacements) const {
  return Expression(ReplaceColumns(arrow_, [&](const std::string& name) {
    const auto found = replacements.find(name);
    return found == replacements.end() ? nullptr : &found->second.arrow_;
  }));
}

std::vector<Expression> Expression::Conjuncts() const {
  std::vector<Expression> parts;
  std::vector<ArrowExpression> left = {arrow_};
  std::unordered_set<const ArrowCall*> seen;
  while (!left.empty()) {
    const ArrowExpression part = std::move(left.back());
    left.pop_back();
    const auto* call = part.call();
    if (call != nullptr && !seen.insert(call).second) continue;
    if (call != nullptr && call->function_name == "and_kleene") {
      left.insert(left.end(), call->arguments.rbegin(), call->arguments.rend());
    } else {
      parts.emplace_back(part);
    }
  }
  return parts;
}

std::string Expression::ToString() const {
  if (NumWrittenCalls(arrow_) <= kMaxWrittenCalls) return arrow_.ToString();
  const auto parts = SplitSharedParts(arrow_);
  std::string text;
  for (size_t i = 0; i + 1 < parts.trees.size(); ++i) {
    text += parts.prefix + std::to_string(i) + " = " + parts.trees[i].ToString() + "; ";
  }
  return text + parts.trees.back().ToString();
}

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
