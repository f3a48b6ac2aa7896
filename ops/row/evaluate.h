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

/// An expression bound to the columns of a stream's batches. Of columns that are encoded
/// (types/dictionary_encoding.h) it sees the values; if it reads one column only, each
/// value of its dictionary once. Used by one thread.
class RowExpression {
 public:
  /// Bind to a schema; errors as of Expression::Bind.
  static arrow::Result<RowExpression> Make(const Expression& expression,
                                           const arrow::Schema& schema);

  /// The type and dtype of what it gives.
  const std::shared_ptr<arrow::Field>& field() const { return field_; }

  /// Compute one array of the batch's length: constants are repeated. Invalid names the
  /// columns and the value where one has no place among integers.
  arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(
      const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec);

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> EvaluateRows(
      const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec);
  arrow::Result<std::shared_ptr<arrow::Array>> RunOnValues(
      const arrow::compute::ExecBatch& values, arrow::compute::ExecContext* exec) const;
  /// What an expression of one column gives for each value of the dictionary that came
  /// last, and for none.
  struct ByValue {
    std::shared_ptr<arrow::ArrayData> dictionary{};
    std::shared_ptr<arrow::Array> results{};
  };
  /// RunOnValues for an only column that is encoded. nullptr if there are too few rows.
  arrow::Result<std::shared_ptr<arrow::Array>> RunByValue(
      const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec);
  /// False if there are too few rows.
  arrow::Result<bool> LearnValues(const arrow::compute::Expression& expression,
                                  const arrow::RecordBatch& batch, ByValue& known,
                                  arrow::compute::ExecContext* exec) const;
  arrow::Status NothingMayBeMissing(const arrow::DataType& type) const;

  arrow::compute::Expression bound_;
  std::vector<RequiredValues> required_;
  std::shared_ptr<arrow::Field> field_;
  std::vector<int> encoded_;                // of the columns that it reads
  std::vector<std::string> columns_;        // the names of all that it reads
  std::vector<ByValue> required_by_value_;  // as many as required_
  ByValue by_value_;
};

}  // namespace xshards::ops
