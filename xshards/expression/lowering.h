// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/compute/expression.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "xshards/expression/expression.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

// How an Expression, which says what is meant in pandas' terms, becomes calls of Arrow's
// kernels that give pandas' results. Every function has a rule; the rules of one theme
// share a file (lowering_arithmetic.cc and so on), lowering.cc has the table of them.

using ArrowExpression = arrow::compute::Expression;
using TypePointer = std::shared_ptr<arrow::DataType>;

/// A lowered expression and what it gives.
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

class Lowering {
 public:
  explicit Lowering(const arrow::Schema& schema) : schema_(schema) {}

  OperandResult Lower(const ArrowExpression& expression) const;
  /// What a lowered expression gives, in a family of dtypes.
  OperandResult Typed(ArrowExpression lowered, DtypeFamily family) const;
  /// Note that a lowered part must give values, which become `type`. No kernel checks it.
  void Require(ArrowExpression lowered, TypePointer type) const;
  const std::vector<RequiredValues>& required() const { return required_; }

 private:
  OperandResult Column(const arrow::FieldRef& reference) const;

  const arrow::Schema& schema_;
  mutable std::vector<RequiredValues> required_;  // what rules found on the way
};

using Rule = OperandResult (*)(const Lowering&, const ArrowExpression::Call&,
                               std::vector<Operand>);

// lowering_arithmetic.cc
OperandResult LowerArithmetic(const Lowering&, const ArrowExpression::Call&,
                              std::vector<Operand>);
OperandResult LowerNegate(const Lowering&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult LowerAbs(const Lowering&, const ArrowExpression::Call&,
                       std::vector<Operand>);
OperandResult LowerRound(const Lowering&, const ArrowExpression::Call&,
                         std::vector<Operand>);
// lowering_decimal.cc
/// Of decimals beside integers, decimals and truth values; not of powers.
OperandResult LowerDecimalArithmetic(const Lowering&, const std::string& function,
                                     Operand left, Operand right);
/// What comparing decimals with a float comes to among decimals.
struct DecimalComparison {
  std::string function;  // with the decimals on the left
  ArrowExpression decimal;
  ArrowExpression constant;
  TypePointer type;
  bool never_equal = false;  // no decimal of the scale is the float
};
/// Compare decimals with a constant float exactly, as Python does. nullopt if it is not
/// about these two, or no decimal comes near the float.
std::optional<DecimalComparison> CompareWithFloat(const std::string& function,
                                                  const Operand& left,
                                                  const Operand& right);
/// A float as a decimal of a type; nullptr if that is not exactly the same.
std::shared_ptr<arrow::Scalar> ExactDecimal(double number, const arrow::DataType& type);
// lowering_time.cc
OperandResult LowerTimeArithmetic(const Lowering&, const std::string& function,
                                  const Operand& left, const Operand& right);
OperandResult LowerTimeField(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerDate(const Lowering&, const ArrowExpression::Call&,
                        std::vector<Operand>);
OperandResult LowerNormalize(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
// lowering_comparison.cc
OperandResult LowerComparison(const Lowering&, const ArrowExpression::Call&,
                              std::vector<Operand>);
OperandResult LowerIsIn(const Lowering&, const ArrowExpression::Call&,
                        std::vector<Operand>);
OperandResult LowerIndexIn(const Lowering&, const ArrowExpression::Call&,
                           std::vector<Operand>);
OperandResult LowerIsNull(const Lowering&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult LowerLogic(const Lowering&, const ArrowExpression::Call&,
                         std::vector<Operand>);
OperandResult LowerInvert(const Lowering&, const ArrowExpression::Call&,
                          std::vector<Operand>);
// lowering_choice.cc
OperandResult LowerChoose(const Lowering&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult LowerFillMissing(const Lowering&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult LowerClip(const Lowering&, const ArrowExpression::Call&,
                        std::vector<Operand>);
OperandResult LowerAsType(const Lowering&, const ArrowExpression::Call&,
                          std::vector<Operand>);
OperandResult LowerAsDtype(const Lowering&, const ArrowExpression::Call&,
                           std::vector<Operand>);
// lowering_text.cc
OperandResult LowerTextMatch(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerTextSlice(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerTextStrip(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerTextPad(const Lowering&, const ArrowExpression::Call&,
                           std::vector<Operand>);
OperandResult LowerTextZeroFill(const Lowering&, const ArrowExpression::Call&,
                                std::vector<Operand>);
OperandResult LowerTextCount(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerTextReplaceSlice(const Lowering&, const ArrowExpression::Call&,
                                    std::vector<Operand>);
// lowering_parts.cc
OperandResult LowerTextSplit(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerListGet(const Lowering&, const ArrowExpression::Call&,
                           std::vector<Operand>);
OperandResult LowerTextExtract(const Lowering&, const ArrowExpression::Call&,
                               std::vector<Operand>);
// lowering_calendar.cc
OperandResult LowerRoundTime(const Lowering&, const ArrowExpression::Call&,
                             std::vector<Operand>);
OperandResult LowerStrftime(const Lowering&, const ArrowExpression::Call&,
                            std::vector<Operand>);
OperandResult LowerDaysInMonth(const Lowering&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult LowerIsLeapYear(const Lowering&, const ArrowExpression::Call&,
                              std::vector<Operand>);
OperandResult LowerConvertZone(const Lowering&, const ArrowExpression::Call&,
                               std::vector<Operand>);
OperandResult LowerAssumeZone(const Lowering&, const ArrowExpression::Call&,
                              std::vector<Operand>);
OperandResult LowerDurationPart(const Lowering&, const ArrowExpression::Call&,
                                std::vector<Operand>);

// What rules are made of.

/// The family of what is computed from two operands.
DtypeFamily CombinedFamily(const Operand& left, const Operand& right);
/// The type an operand has beside another: a plain Python number takes that of the
/// column it meets, as in numpy. nullptr if its value does not fit.
TypePointer TypeBeside(const Operand& operand, const Operand& other);
/// The operand cast to a type; a constant is cast at once.
ArrowExpression As(const Operand& operand, const TypePointer& type);
ArrowExpression CastTo(ArrowExpression operand, const TypePointer& type);
ArrowExpression NullOf(const TypePointer& type);
/// The operand with null where it is NaN.
ArrowExpression NaNAsNull(const Operand& operand);
bool IsText(const arrow::DataType& type);
/// The unit of timestamps and durations.
arrow::TimeUnit::type UnitOf(const arrow::DataType& type);
/// A constant of a rule's options, as an integer. TypeError if it is none.
arrow::Result<int64_t> IntegerOption(const Operand& operand);
/// A constant of a rule's options, as text. TypeError if it is none.
arrow::Result<std::string> TextOption(const Operand& operand);
/// "int64" or "category (large_string)", for messages.
std::string DescribeType(const Operand& operand);

}  // namespace xshards
