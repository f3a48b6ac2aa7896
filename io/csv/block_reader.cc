// SPDX-License-Identifier: Apache-2.0
#include "io/csv/block_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "io/csv/convert/time_columns.h"
#include "io/csv/parse/scalar_tokenizer.h"
#include "io/csv/plan/record_boundaries.h"
#include "io/csv/text_format.h"
#include "io/options/quoted_names.h"
#include "io/text/parse_error.h"
#include "io/text/text_encoding.h"
#include "io/text/type_mismatch_location.h"
#include "xshards/types/json_text_field.h"

namespace xshards::io {

CsvBlockReader::CsvBlockReader(const CsvOptions& options, CsvSource source,
                               std::shared_ptr<arrow::Schema> schema,
                               arrow::MemoryPool* pool)
    : options_(options),
      source_(std::move(source)),
      schema_(std::move(schema)),
      values_(options),
      pool_(pool),
      rows_(options) {
  if (source_.first_line.has_value()) rows_.NumberFrom(*source_.first_line);
}

arrow::Result<std::unique_ptr<CsvBlockReader>> CsvBlockReader::Make(
    const CsvOptions& options, CsvSource source, std::shared_ptr<arrow::Schema> schema,
    arrow::MemoryPool* pool) {
  std::unique_ptr<CsvBlockReader> reader(
      new CsvBlockReader(options, std::move(source), std::move(schema), pool));
  const auto& file_columns = reader->source_.columns;
  std::unordered_map<std::string_view, int64_t> indices;
  for (size_t i = 0; i < file_columns.size(); ++i) {
    indices.emplace(file_columns[i], static_cast<int64_t>(i));
  }
  for (const auto& field : reader->schema_->fields()) {
    const auto found = indices.find(field->name());
    if (found == indices.end()) {
      return arrow::Status::KeyError("No column '", field->name(), "'; the file has ",
                                     QuotedNames(file_columns));
    }
    reader->column_indices_.push_back(found->second);
    const bool inferred =
        reader->source_.inferred && !options.dtype.contains(field->name());
    const CsvValues* const values = &reader->values_.Of(field->name());
    if (IsJsonText(*field)) {
      reader->columns_.push_back(CsvColumn::MakeJsonIntegers(values, pool));
      continue;
    }
    const auto times = TimesOf(field->name(), options);
    if (times.has_value() && field->type()->id() == arrow::Type::TIMESTAMP) {
      reader->columns_.push_back(
          CsvColumn::MakeTimes(field->type(), *times, values, pool));
      continue;
    }
    // If all numbers are read as floats, no value changes a float column's type.
    ARROW_ASSIGN_OR_RAISE(
        auto column,
        CsvColumn::Make(field->type(), inferred && !options.numbers_are_floats, values,
                        pool));
    reader->columns_.push_back(std::move(column));
  }
  return reader;
}

arrow::Result<int64_t> CsvBlockReader::SetBlock(const TextBlocks::Block& block,
                                                int64_t position) {
  block_ = block;
  position_ = position;
  next_row_ = 0;
  next_left_out_ = 0;
  const auto num_columns = static_cast<int64_t>(source_.columns.size());
  rows_.Find(block.mutable_text(), block.buffer->size(), block.is_last, num_columns);
  num_readable_ = rows_.is_ascii() ? rows_.num_rows() : CountUtf8Rows();
  return std::min(rows_.consumed(), block.buffer->size());
}

arrow::Status CsvBlockReader::CheckPassed() const {
  if (num_readable_ < rows_.num_rows()) return NotUtf8(num_readable_);
  if (const auto& row = rows_.too_long(); row.has_value()) {
    return Malformed(TooLong(*row));
  }
  // If there are rows, more may follow before the quote.
  if (block_.is_last && rows_.in_quotes() && rows_.num_rows() == 0) return OpenQuote();
  return arrow::Status::OK();
}

CsvBlockReader::LeftOut CsvBlockReader::TakeLeftOut(bool is_passed) {
  LeftOut taken;
  const auto& rows = rows_.left_out();
  for (; next_left_out_ < rows.size(); ++next_left_out_) {
    const auto& row = rows[next_left_out_];
    if (!is_passed && row.next_row >= next_row_) break;
    ++taken.count;
    // Finding the line number takes time.
    if (!std::exchange(has_left_out_, true)) taken.first = TooLong(row);
  }
  return taken;
}

std::string CsvBlockReader::TooLong(const CsvRows::LongRow& row) const {
  return "Expected " + std::to_string(source_.columns.size()) + " fields in " +
         Place(row.begin) + ", saw " + std::to_string(row.num_fields);
}

arrow::Status CsvBlockReader::OpenQuote() const {
  const auto begin = static_cast<size_t>(rows_.consumed());
  std::string place = "'" + source_.path + "'";
  if (!IsOdd(options_)) {
    RecordBoundaries boundaries(options_.sep, *options_.quotechar, 0, {});
    boundaries.Trace(block_.text().substr(begin));
    place = Place(rows_.text() + begin + boundaries.opened_at());
  }
  return Malformed("Expected the quote opened in " + place +
                   " to be closed before the end of the file; if quotes are ordinary "
                   "characters, pass quoting=csv.QUOTE_NONE");
}

std::optional<size_t> CsvBlockReader::FindNotUtf8(int64_t row) const {
  for (size_t i = 0; i < column_indices_.size(); ++i) {
    const auto field = rows_.Field(row, column_indices_[i]);
    if (!field.empty() && !IsUtf8(field)) return i;
  }
  return std::nullopt;
}

int64_t CsvBlockReader::CountUtf8Rows() const {
  const int64_t num_rows = rows_.num_rows();
  if (IsUtf8({rows_.text(), static_cast<size_t>(rows_.consumed())})) return num_rows;
  for (int64_t row = 0; row < num_rows; ++row) {
    if (FindNotUtf8(row).has_value()) return row;
  }
  return num_rows;
}

arrow::Status CsvBlockReader::NotUtf8(int64_t row) const {
  constexpr size_t kKept = 1 << 20;
  const size_t column = FindNotUtf8(row).value_or(0);
  const auto field = rows_.Field(row, column_indices_[column]);
  return Undecodable("Expected UTF-8 text in " + Place(field.data()) + ", column '" +
                         schema_->field(static_cast<int>(column))->name() + "'",
                     "utf-8", std::string(field.substr(0, kKept)));
}

arrow::Status CsvBlockReader::Start(int64_t capacity) {
  rows_in_batch_ = 0;
  for (const auto& column : columns_) ARROW_RETURN_NOT_OK(column->Start(capacity));
  return arrow::Status::OK();
}

arrow::Status CsvBlockReader::Append(int64_t num_rows) {
  const int64_t end = next_row_ + num_rows;
  const bool has_end = rows_.consumed() >= block_.buffer->size();
  if (end == rows_.num_rows() && has_end && rows_.ends_escaped()) {
    return Malformed("Expected a character after the escapechar at the end of '" +
                     source_.path + "'");
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const int64_t done,
                          columns_[i]->Append(rows_, column_indices_[i], next_row_, end));
    if (done != end) return TypeMismatchError(i, done);
  }
  next_row_ = end;
  rows_in_batch_ += num_rows;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> CsvBlockReader::Finish() {
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < columns_.size(); ++i) {
    auto array = columns_[i]->Finish();
    if (!array.ok()) {
      return array.status().WithMessage(
          "Expected ", schema_->field(static_cast<int>(i))->type()->ToString(), " in '",
          source_.path, "', column '", schema_->field(static_cast<int>(i))->name(),
          "': ", array.status().message(), ". The type is given in dtype");
    }
    arrays.push_back(array.MoveValueUnsafe());
  }
  return arrow::RecordBatch::Make(schema_, rows_in_batch_, std::move(arrays));
}

TextPlace CsvBlockReader::PlaceOf(const char* at) const {
  return {.begin = source_.begin,
          .offset = position_ - source_.begin + (at - rows_.text())};
}

std::string CsvBlockReader::Place(const char* at) const {
  std::string place = "'" + source_.path + "'";
  const auto line = LineNumber(source_.path, ToTextFormat(options_), PlaceOf(at), pool_);
  if (line.ok()) place += ", line " + std::to_string(*line);
  return place;
}

arrow::Status CsvBlockReader::TypeMismatchError(size_t field, int64_t row) {
  const auto& name = schema_->field(static_cast<int>(field))->name();
  const bool asked = options_.dtype.contains(name);
  constexpr size_t kShown = 100;
  const auto text = rows_.Field(row, column_indices_[field]);
  if (source_.inferred && !asked) {
    return TypeMismatchAt(text, name, source_.path, PlaceOf(text.data()));
  }
  std::string scratch;
  const CsvValues& values = values_.Of(name);
  const auto value = values.IsEscaped(text) ? values.Unescape(text, &scratch) : text;
  const bool is_number = values.Classify(value) == static_cast<CsvKinds>(CsvKind::kFloat);
  const char* origin =
      asked ? "The type is given in dtype" : "All values fitted when types were inferred";
  return arrow::Status::Invalid(
      "Expected ", schema_->field(static_cast<int>(field))->type()->ToString(), " in ",
      Place(text.data()), ", column '", name, "', got '", value.substr(0, kShown), "'. ",
      origin, "; to read this column pass dtype={'", name, "': '",
      is_number ? "float64" : "string", "'}");
}

}  // namespace xshards::io
