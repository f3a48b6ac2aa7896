// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/compute/expression.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "xshards/expression/expression.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

// How an Expression, which has pandas' semantics, is compiled to calls of Arrow's kernels
// that give pandas' results. Every function has a rule; the rules of one theme share a
// file (compile_arithmetic.cc and so on), compiler.cc has the table of them.

using ArrowExpression = arrow::compute::Expression;
using TypePointer = std::shared_ptr<arrow::DataType>;

/// A compiled expression and its result type.
struct Operand {
  ArrowExpression arrow;
  std::shared_ptr<arrow::Field> field;  // its type and dtype

  const TypePointer& type() const { return field->type(); }
  arrow::Type::type id() const { return field->type()->id(); }
  DtypeFamily family() const { return FamilyOf(*field); }
  bool is_time() const {
    return arrow::is_temporal(id()) || id() == arrow::Type::DURATION;
  }
  /// The value if this is a constant, else nullptr.
  std::shared_ptr<arrow::Scalar> literal() const;
};

using OperandResult = arrow::Result<Operand>;

class Compiler {
 public:
  /// For the columns that an expression reads, none of them encoded.
  explicit Compiler(arrow::FieldVector columns)
      : schema_(arrow::schema(std::move(columns))) {}

  /// Compile an expression. Its parts that are used in several places, and those that
  /// have become large, are computed by steps. Once per Compiler.
  OperandResult Compile(const ArrowExpression& expression);
  /// The columns, then the result of each step: the schema that compiled expressions are
  /// bound to.
  const arrow::Schema& schema() const { return *schema_; }
  const std::vector<ArrowExpression>& steps() const { return steps_; }
  /// The result of a compiled expression, in a family of dtypes.
  OperandResult Typed(ArrowExpression compiled, DtypeFamily family) const;
  /// Record that a compiled part must have no missing values, because it is cast to
  /// `type`. No kernel checks it.
  void Require(ArrowExpression compiled, TypePointer type) const;
  const std::vector<RequiredValues>& required() const { return required_; }

 private:
  OperandResult Column(const arrow::FieldRef& reference) const;
  OperandResult CompileLeaf(const ArrowExpression& expression) const;
  OperandResult CompileCall(
      const ArrowExpression::Call& call,
      const std::unordered_map<const ArrowExpression::Call*, Operand>& compiled) const;
  /// The result of a step as an operand.
  OperandResult AddStep(const Operand& operand);

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<ArrowExpression> steps_;
  mutable std::vector<RequiredValues> required_;  // collected while rules run
};

using Rule = OperandResult (*)(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);

// compile_arithmetic.cc
/// The error for unsupported operands of a function.
arrow::Status NoArithmetic(const std::string& function, const Operand& left,
                           const Operand& right);
OperandResult CompileArithmetic(const Compiler&, const ArrowExpression::Call&,
                                std::vector<Operand>);
OperandResult CompileNegate(const Compiler&, const ArrowExpression::Call&,
                            std::vector<Operand>);
OperandResult CompileAbs(const Compiler&, const ArrowExpression::Call&,
                         std::vector<Operand>);
OperandResult CompileRound(const Compiler&, const ArrowExpression::Call&,
                           std::vector<Operand>);
// compile_decimal.cc
/// Arithmetic of decimals with decimals, integers and booleans; not powers.
OperandResult CompileDecimalArithmetic(const Compiler&, const std::string& function,
                                       Operand left, Operand right);
/// A comparison of decimals with a float, expressed in decimals.
struct DecimalComparison {
  std::string function;  // with the decimals on the left
  ArrowExpression decimal;
  ArrowExpression constant;
  TypePointer type;
  bool never_equal = false;  // no decimal of the scale equals the float
};
/// Compare decimals with a constant float exactly, as Python does. nullopt for other
/// operands, or if the float is out of range.
std::optional<DecimalComparison> CompareWithFloat(const std::string& function,
                                                  const Operand& left,
                                                  const Operand& right);
/// A float as a decimal of a type; nullptr if that is not exact.
std::shared_ptr<arrow::Scalar> ExactDecimal(double number, const arrow::DataType& type);
// compile_time.cc
OperandResult CompileTimeArithmetic(const Compiler&, const std::string& function,
                                    const Operand& left, const Operand& right);
OperandResult CompileTimeField(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileDate(const Compiler&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult CompileNormalize(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
// compile_comparison.cc
OperandResult CompileComparison(const Compiler&, const ArrowExpression::Call&,
                                std::vector<Operand>);
OperandResult CompileIsIn(const Compiler&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult CompileIndexIn(const Compiler&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult CompileIsNull(const Compiler&, const ArrowExpression::Call&,
                            std::vector<Operand>);
OperandResult CompileLogic(const Compiler&, const ArrowExpression::Call&,
                           std::vector<Operand>);
OperandResult CompileInvert(const Compiler&, const ArrowExpression::Call&,
                            std::vector<Operand>);
// compile_choice.cc
OperandResult CompileChoose(const Compiler&, const ArrowExpression::Call&,
                            std::vector<Operand>);
OperandResult CompileFillMissing(const Compiler&, const ArrowExpression::Call&,
                                 std::vector<Operand>);
OperandResult CompileClip(const Compiler&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult CompileAsType(const Compiler&, const ArrowExpression::Call&,
                            std::vector<Operand>);
OperandResult CompileAsDtype(const Compiler&, const ArrowExpression::Call&,
                             std::vector<Operand>);
// compile_text.cc
OperandResult CompileTextMatch(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileTextSlice(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileTextStrip(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileTextPad(const Compiler&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult CompileTextZeroFill(const Compiler&, const ArrowExpression::Call&,
                                  std::vector<Operand>);
OperandResult CompileTextCount(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileTextReplaceSlice(const Compiler&, const ArrowExpression::Call&,
                                      std::vector<Operand>);
// compile_text_parts.cc
OperandResult CompileTextSplit(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileListGet(const Compiler&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult CompileTextExtract(const Compiler&, const ArrowExpression::Call&,
                                 std::vector<Operand>);
// compile_calendar.cc
OperandResult CompileRoundTime(const Compiler&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult CompileStrftime(const Compiler&, const ArrowExpression::Call&,
                              std::vector<Operand>);
OperandResult CompileDaysInMonth(const Compiler&, const ArrowExpression::Call&,
                                 std::vector<Operand>);
OperandResult CompileIsLeapYear(const Compiler&, const ArrowExpression::Call&,
                                std::vector<Operand>);
OperandResult CompileConvertZone(const Compiler&, const ArrowExpression::Call&,
                                 std::vector<Operand>);
OperandResult CompileAssumeZone(const Compiler&, const ArrowExpression::Call&,
                                std::vector<Operand>);
OperandResult CompileDurationPart(const Compiler&, const ArrowExpression::Call&,
                                  std::vector<Operand>);

// Building blocks of rules.

/// The dtype family of the result of two operands.
DtypeFamily CombinedFamily(const Operand& left, const Operand& right);
/// The type of an operand combined with another: a plain Python number takes the type of
/// the column, as in numpy. nullptr if its value does not fit.
TypePointer TypeBeside(const Operand& operand, const Operand& other);
/// The operand cast to a type; a constant is cast at once.
ArrowExpression As(const Operand& operand, const TypePointer& type);
ArrowExpression CastTo(ArrowExpression operand, const TypePointer& type);
ArrowExpression NullOf(const TypePointer& type);
/// The operand with null instead of NaN.
ArrowExpression NaNAsNull(const Operand& operand);
bool IsText(const arrow::DataType& type);
/// The unit of timestamps and durations.
arrow::TimeUnit::type UnitOf(const arrow::DataType& type);
/// A constant of a rule's options, as an integer. TypeError if it is not one.
arrow::Result<int64_t> IntegerOption(const Operand& operand);
/// A constant of a rule's options, as text. TypeError if it is not text.
arrow::Result<std::string> TextOption(const Operand& operand);
/// The name of a column, or the compiled expression, for messages.
std::string DescribeOperand(const Operand& operand);
/// "int64" or "category (large_string)", for messages.
std::string DescribeType(const Operand& operand);

}  // namespace xshards
