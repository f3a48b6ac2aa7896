// SPDX-License-Identifier: Apache-2.0
#include "ops/row/evaluate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include <arrow/array/array_dict.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/chunked_array.h>
#include <arrow/datum.h>
#include <arrow/scalar.h>

#include "ops/kernels/vector_array.h"
#include "xshards/types/dictionary_encoding.h"
#include "xshards/types/dictionary_indices.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::ops {

namespace {

arrow::Result<std::shared_ptr<arrow::Array>> Run(const arrow::compute::Expression& bound,
                                                 const arrow::compute::ExecBatch& batch,
                                                 arrow::compute::ExecContext* exec) {
  ARROW_ASSIGN_OR_RAISE(auto value,
                        arrow::compute::ExecuteScalarExpression(bound, batch, exec));
  if (value.is_scalar()) {
    return arrow::MakeArrayFromScalar(*value.scalar(), batch.length, exec->memory_pool());
  }
  if (value.is_chunked_array()) {
    const auto& chunks = *value.chunked_array();
    if (chunks.num_chunks() == 0) {
      return arrow::MakeEmptyArray(chunks.type(), exec->memory_pool());
    }
    return arrow::Concatenate(chunks.chunks(), exec->memory_pool());
  }
  return value.make_array();
}

/// Whether a number is out of range of an integer type, given its name: "uint8".
bool IsOutOfRange(double value, std::string_view type) {
  const bool is_signed = !type.starts_with('u');
  const size_t digits = std::min(type.find_first_of("123456789"), type.size());
  int bits = 0;
  std::from_chars(type.data() + digits, type.data() + type.size(), bits);
  const double upper_bound = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  return value < (is_signed ? -upper_bound : 0.0) || value >= upper_bound;
}

/// "1.5 (from column 'a') cannot be converted to int64: ".
std::string CannotBecome(const std::string& value,
                         const std::vector<std::string>& columns,
                         const std::string& type) {
  std::string text = value;
  for (size_t i = 0; i < columns.size(); ++i) {
    text += (i == 0 ? " (from column '" : ", '") + columns[i] + "'";
  }
  return text + (columns.empty() ? "" : ")") + " cannot be converted to " + type + ": ";
}

/// pandas' wording, and the fix.
constexpr char kNotFinite[] = "Cannot convert non-finite values (NA or inf) to integer; ";

std::string MissingInteger(const std::vector<std::string>& columns,
                           const std::string& type) {
  const bool is_signed = !type.starts_with('u');
  const std::string nullable = (is_signed ? "I" : "UI") + type.substr(is_signed ? 1 : 2);
  return CannotBecome("a missing value", columns, type) + kNotFinite +
         "fill missing values first (fillna), or keep them with astype('" + nullable +
         "')";
}

/// Arrow's error about a float that does not fit an integer type, with the columns that
/// were read and the fix; other errors unchanged.
arrow::Status NameFailedCast(const arrow::Status& status,
                             const std::vector<std::string>& columns) {
  constexpr std::string_view kValue = "Float value ";
  constexpr std::string_view kType = " was truncated converting to ";
  const std::string& said = status.message();
  const size_t type = said.find(kType);
  if (!said.starts_with(kValue) || type == std::string::npos) return status;
  // strtod: Arrow writes 1e300 with all its digits.
  const double value = std::strtod(said.c_str() + kValue.size(), nullptr);
  const std::string type_name = said.substr(type + kType.size());
  if (std::isnan(value)) return status.WithMessage(MissingInteger(columns, type_name));
  std::ostringstream shown;
  shown << std::setprecision(15) << value;
  std::string message = CannotBecome(shown.str(), columns, type_name);
  if (!std::isfinite(value)) {
    message += kNotFinite;
    message += "replace infinite and missing values first, or convert to float64";
  } else if (!IsOutOfRange(value, type_name)) {
    message += "it has a fraction, which round() or trunc removes";
  } else {
    message += "it is out of range; clip() values first, or convert to a wider type";
  }
  return status.WithMessage(message);
}

/// The index of each row's value in the dictionary; the dictionary's length for null.
std::shared_ptr<arrow::Array> PlacesOf(const arrow::DictionaryArray& column) {
  if (column.indices()->null_count() == 0) return column.indices();
  std::vector<int32_t> places(static_cast<size_t>(column.length()));
  ForEachPlace(column, [&](int64_t row, size_t place) {
    places[static_cast<size_t>(row)] = static_cast<int32_t>(place);
  });
  return ToArray(std::move(places));
}

/// The results for the rows of a column, given those for the values of its dictionary
/// and, last, the one for null.
arrow::Result<std::shared_ptr<arrow::Array>> ByPlace(
    const std::shared_ptr<arrow::Array>& by_place, const arrow::DictionaryArray& column,
    arrow::MemoryPool* pool) {
  const int64_t none = by_place->length() - 1;
  // Null usually gives null: then nothing has to be replaced.
  const bool stays = by_place->IsNull(none);
  const auto values = stays ? by_place->Slice(0, none) : by_place;
  const auto places = stays ? column.indices() : PlacesOf(column);
  return DecodeValues(
      arrow::DictionaryArray(arrow::dictionary(places->type(), values->type()), places,
                             values),
      pool);
}

/// True if a row of a column has a value, or null, without a result.
bool AnyMissing(const arrow::Array& by_place, const arrow::DictionaryArray& column) {
  const int64_t none = by_place.length() - 1;
  if (by_place.null_count() == 0) return false;
  for (int64_t row = 0; row < column.length(); ++row) {
    if (by_place.IsNull(column.IsNull(row) ? none : column.GetValueIndex(row)))
      return true;
  }
  return false;
}

}  // namespace

arrow::Result<RowExpression> RowExpression::Make(const Expression& expression,
                                                 const arrow::Schema& schema) {
  RowExpression made;
  ARROW_ASSIGN_OR_RAISE(made.bound_, expression.Bind(schema));
  made.required_by_value_.resize(made.bound_.required.size());
  for (size_t i = 0; i < made.bound_.columns.size(); ++i) {
    const auto& field = *schema.field(made.bound_.columns[i]);
    made.names_.push_back(field.name());
    if (IsEncoded(field)) made.encoded_.push_back(i);
  }
  return made;
}

arrow::Result<std::shared_ptr<arrow::Array>> RowExpression::Evaluate(
    const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec) {
  auto result = EvaluateRows(batch, exec);
  if (!result.ok()) return NameFailedCast(result.status(), names_);
  return result;
}

arrow::Result<std::shared_ptr<arrow::Array>> RowExpression::EvaluateRows(
    const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec) {
  if (!encoded_.empty() && names_.size() == 1) {
    auto result = RunByValue(batch, exec);
    // The expression may fail on a dictionary value that no row uses.
    if (result.ok() && *result != nullptr) return result;
  }
  arrow::compute::ExecBatch values({}, batch.num_rows());
  for (const int i : bound_.columns) values.values.emplace_back(batch.column(i));
  for (const size_t i : encoded_) {
    const auto& column = *batch.column(bound_.columns[i]);
    ARROW_ASSIGN_OR_RAISE(values.values[i],
                          DecodeValues(static_cast<const arrow::DictionaryArray&>(column),
                                       exec->memory_pool()));
  }
  return RunOnValues(std::move(values), exec);
}

arrow::Status RowExpression::RunSteps(arrow::compute::ExecBatch* values,
                                      arrow::compute::ExecContext* exec) const {
  for (const auto& step : bound_.steps) {
    ARROW_ASSIGN_OR_RAISE(auto result, Run(step, *values, exec));
    values->values.emplace_back(std::move(result));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> RowExpression::RunOnValues(
    arrow::compute::ExecBatch values, arrow::compute::ExecContext* exec) const {
  ARROW_RETURN_NOT_OK(RunSteps(&values, exec));
  for (const auto& [required, type] : bound_.required) {
    ARROW_ASSIGN_OR_RAISE(const auto found, Run(required, values, exec));
    if (found->null_count() == 0) continue;
    return NothingMayBeMissing(*type);
  }
  return Run(bound_.arrow, values, exec);
}

arrow::Status RowExpression::NothingMayBeMissing(const arrow::DataType& type) const {
  return arrow::Status::Invalid(MissingInteger(names_, type.ToString()));
}

arrow::Result<std::shared_ptr<arrow::Array>> RowExpression::RunByValue(
    const arrow::RecordBatch& batch, arrow::compute::ExecContext* exec) {
  const auto& column =
      static_cast<const arrow::DictionaryArray&>(*batch.column(bound_.columns[0]));
  for (size_t i = 0; i < bound_.required.size(); ++i) {
    const auto& [required, type] = bound_.required[i];
    ByValue& known = required_by_value_[i];
    ARROW_ASSIGN_OR_RAISE(const bool is_known,
                          LearnValues(required, column, known, exec));
    if (!is_known) return nullptr;
    if (AnyMissing(*known.results, column)) return NothingMayBeMissing(*type);
  }
  ARROW_ASSIGN_OR_RAISE(const bool is_known,
                        LearnValues(bound_.arrow, column, by_value_, exec));
  if (!is_known) return nullptr;
  return ByPlace(by_value_.results, column, exec->memory_pool());
}

arrow::Result<bool> RowExpression::LearnValues(
    const arrow::compute::Expression& expression, const arrow::DictionaryArray& column,
    ByValue& known, arrow::compute::ExecContext* exec) const {
  const auto& dictionary = column.dictionary();
  if (column.data()->dictionary == known.dictionary) return true;
  if (dictionary->length() > column.length() / 2 ||
      dictionary->length() >= std::numeric_limits<int32_t>::max()) {
    return false;
  }
  ARROW_ASSIGN_OR_RAISE(auto none, arrow::MakeArrayOfNull(dictionary->type(), 1));
  ARROW_ASSIGN_OR_RAISE(auto with_none,
                        arrow::Concatenate({dictionary, none}, exec->memory_pool()));
  const int64_t length = with_none->length();
  arrow::compute::ExecBatch values({with_none}, length);
  ARROW_RETURN_NOT_OK(RunSteps(&values, exec));
  ARROW_ASSIGN_OR_RAISE(known.results, Run(expression, values, exec));
  known.dictionary = column.data()->dictionary;
  return true;
}

}  // namespace xshards::ops
