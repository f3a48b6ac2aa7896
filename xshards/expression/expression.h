// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/compute/expression.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "xshards/export.h"

namespace xshards {

/// A part of an expression that must not be missing in any row: it is cast to integers
/// that cannot be missing.
struct RequiredValues {
  arrow::compute::Expression arrow;
  std::shared_ptr<arrow::DataType> type;  // that they are cast to
};

/// An expression ready to run on batches of one schema. It is bound to some of the
/// schema's columns, those that it reads, and after them to the result of each step.
struct BoundExpression {
  std::vector<int> columns;
  /// Parts that are computed once and used several times, each of what is before it.
  std::vector<arrow::compute::Expression> steps;
  arrow::compute::Expression arrow;
  std::shared_ptr<arrow::Field> field;  // the type and pandas dtype of the result
  std::vector<RequiredValues> required = {};
};

/// A description of a value computed from the columns of a row: plain data, made with
/// col(), lit(), operators and the functions below.
///
/// It has pandas' semantics; Bind() compiles it to Arrow kernels: a comparison with a
/// missing value is false (`!=` true) or, for the nullable dtypes, missing; `/` of
/// integers gives floats, NaN is missing.
class XSHARDS_EXPORT Expression {
 public:
  /// Wraps an Arrow expression of unbound field references, literals and calls.
  explicit Expression(arrow::compute::Expression arrow) : arrow_(std::move(arrow)) {}

  /// Call any Arrow scalar function by name, such as "utf8_upper", or one with pandas
  /// semantics that compiler.cc lists, such as "floor_divide".
  static Expression Call(
      std::string function, std::vector<Expression> arguments,
      std::shared_ptr<arrow::compute::FunctionOptions> options = nullptr);

  /// The expression as built, before compilation: what optimizer rules and codecs read.
  const arrow::compute::Expression& arrow() const { return arrow_; }

  /// Compile with pandas semantics and bind to a schema. KeyError names an unknown column
  /// and lists all columns; TypeError names the operation and its operand types. Encoded
  /// columns (types/dictionary_encoding.h) are bound as their values.
  arrow::Result<BoundExpression> Bind(const arrow::Schema& schema) const;

  /// The names of the columns it reads, each once, in order of appearance.
  std::vector<std::string> Columns() const;
  /// The column's name if this is a bare column, else nullptr.
  const std::string* column_name() const;
  /// Replace columns by expressions, as projection and predicate pushdown do.
  using Replacements = std::unordered_map<std::string, Expression>;
  Expression Substitute(const Replacements& replacements) const;
  /// The parts of a conjunction: `a & b & c` gives three.
  std::vector<Expression> Conjuncts() const;

  std::string ToString() const;
  bool Equals(const Expression& other) const { return arrow_.Equals(other.arrow_); }

  Expression IsNull() const;
  Expression IsIn(const std::shared_ptr<arrow::Array>& values) const;
  Expression Cast(const std::shared_ptr<arrow::DataType>& type) const;

 private:
  arrow::compute::Expression arrow_;
};

/// A column by name.
XSHARDS_EXPORT Expression col(std::string name);
/// A constant.
XSHARDS_EXPORT Expression lit(std::shared_ptr<arrow::Scalar> value);
template <typename T>
  requires(!std::is_convertible_v<T, std::shared_ptr<arrow::Scalar>>)
Expression lit(T value) {
  if constexpr (std::is_convertible_v<T, std::string>) {
    return lit(std::static_pointer_cast<arrow::Scalar>(
        std::make_shared<arrow::LargeStringScalar>(std::string(std::move(value)))));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return lit(arrow::MakeScalar(value));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return lit(arrow::MakeScalar(static_cast<int64_t>(value)));
  } else {
    return lit(arrow::MakeScalar(value));
  }
}

XSHARDS_EXPORT Expression operator+(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator-(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator*(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator/(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator-(const Expression& operand);
XSHARDS_EXPORT Expression operator==(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator!=(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator<(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator<=(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator>(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator>=(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator&&(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator||(const Expression& left, const Expression& right);
XSHARDS_EXPORT Expression operator!(const Expression& operand);

}  // namespace xshards
