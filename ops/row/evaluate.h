// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/expression.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/expression/expression.h"

namespace xshards::ops {

/// An expression bound to the columns of a stream's batches. Encoded columns
/// (types/dictionary_encoding.h) are decoded for it; if it reads a single column, it is
/// computed once per dictionary value. Used by one thread.
class RowExpression {
 public:
  /// Bind to a schema; errors as of Expression::Bind.
  static arrow::Result<RowExpression> Make(const Expression& expression,
                                           const arrow::Schema& schema);

  /// The type and dtype of its result.
  const std::shared_ptr<arrow::Field>& field() const { return bound_.field; }

  /// Compute one array of the batch's length: constants are repeated. Invalid names the
  /// columns and the value that does not fit an integer type.
  arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(
      const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec);

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> EvaluateRows(
      const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec);
  arrow::Result<std::shared_ptr<arrow::Array>> RunOnValues(
      arrow::compute::ExecBatch values, arrow::compute::ExecContext* exec) const;
  /// Append the result of each step to the columns that it reads.
  arrow::Status RunSteps(arrow::compute::ExecBatch* values,
                         arrow::compute::ExecContext* exec) const;
  /// The results of an expression of one column for each value of the last dictionary,
  /// and for null.
  struct ByValue {
    std::shared_ptr<arrow::ArrayData> dictionary{};
    std::shared_ptr<arrow::Array> results{};
  };
  /// RunOnValues for a single encoded column. nullptr if there are too few rows.
  arrow::Result<std::shared_ptr<arrow::Array>> RunByValue(
      const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec);
  /// False if there are too few rows.
  arrow::Result<bool> LearnValues(const arrow::compute::Expression& expression,
                                  const arrow::DictionaryArray& column, ByValue& known,
                                  arrow::compute::ExecContext* exec) const;
  arrow::Status NothingMayBeMissing(const arrow::DataType& type) const;

  BoundExpression bound_;
  std::vector<size_t> encoded_;             // which of the columns that it reads
  std::vector<std::string> names_;          // of the columns that it reads
  std::vector<ByValue> required_by_value_;  // same length as bound_.required
  ByValue by_value_;
};

}  // namespace xshards::ops
