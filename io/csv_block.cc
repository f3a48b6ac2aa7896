// SPDX-License-Identifier: Apache-2.0
#include "io/csv_block.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "io/csv_dialect.h"
#include "io/csv_inference.h"
#include "io/quoted_names.h"
#include "io/text_input.h"

namespace xshards::io {

CsvBlockReader::CsvBlockReader(const CsvOptions& options,
                               std::shared_ptr<arrow::Schema> schema, int num_columns,
                               arrow::MemoryPool* pool)
    : options_(options),
      parse_options_(ToParseOptions(options)),
      convert_options_(ToConvertOptions(options)),
      schema_(std::move(schema)),
      num_columns_(num_columns),
      pool_(pool) {}

arrow::Result<std::unique_ptr<CsvBlockReader>> CsvBlockReader::Make(
    const CsvOptions& options, const std::vector<std::string>& file_columns,
    std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool) {
  std::unique_ptr<CsvBlockReader> reader(new CsvBlockReader(
      options, std::move(schema), static_cast<int>(file_columns.size()), pool));
  std::unordered_map<std::string_view, int> indices;
  for (size_t i = 0; i < file_columns.size(); ++i) {
    indices.emplace(file_columns[i], static_cast<int>(i));
  }
  for (const auto& field : reader->schema_->fields()) {
    const auto found = indices.find(field->name());
    if (found == indices.end()) {
      return arrow::Status::KeyError("No column '", field->name(), "'; the file has ",
                                     QuotedNames(file_columns));
    }
    reader->column_indices_.push_back(found->second);
    auto converter =
        arrow::csv::Converter::Make(field->type(), reader->convert_options_, pool);
    if (!converter.ok()) {
      return converter.status().WithMessage("Column '", field->name(),
                                            "': ", converter.status().message());
    }
    reader->converters_.push_back(converter.MoveValueUnsafe());
  }
  return reader;
}

std::unique_ptr<arrow::csv::BlockParser> CsvBlockReader::MakeParser(
    int64_t max_rows) const {
  const auto limit = std::min<int64_t>(max_rows, std::numeric_limits<int32_t>::max());
  return std::make_unique<arrow::csv::BlockParser>(pool_, parse_options_, num_columns_,
                                                   /*first_row=*/-1,
                                                   static_cast<int32_t>(limit));
}

arrow::Status CsvBlockReader::Parse(const CsvText& text, int64_t max_rows,
                                    arrow::csv::BlockParser* parser,
                                    int64_t* consumed) const {
  uint32_t used = 0;
  if (max_rows > 0) {
    ARROW_RETURN_NOT_OK(text.is_last ? parser->ParseFinal(text.text, &used)
                                     : parser->Parse(text.text, &used));
  }
  *consumed = used;
  return arrow::Status::OK();
}

arrow::Result<CsvBlockReader::Result> CsvBlockReader::Read(const CsvText& text,
                                                           int64_t max_rows) const {
  Result result;
  const auto parser = MakeParser(max_rows);
  const auto parsed = Parse(text, max_rows, parser.get(), &result.consumed);
  if (!parsed.ok()) return ExplainParse(text, parser->num_rows(), parsed);
  arrow::ArrayVector columns;
  for (size_t i = 0; i < converters_.size(); ++i) {
    auto column = converters_[i]->Convert(*parser, column_indices_[i]);
    if (!column.ok()) {
      return ExplainConvert(text, static_cast<int>(i), parser->num_rows(),
                            column.status());
    }
    columns.push_back(column.MoveValueUnsafe());
  }
  result.batch =
      arrow::RecordBatch::Make(schema_, parser->num_rows(), std::move(columns));
  return result;
}

std::string CsvBlockReader::Place(const CsvText& text, int64_t row) const {
  // Reading the rows before the bad one tells where it starts. Anything that goes wrong
  // on the way only makes the message less exact.
  std::string place = "'" + *text.path + "'";
  int64_t consumed = 0;
  const auto parser = MakeParser(row);
  if (!Parse(text, row, parser.get(), &consumed).ok()) return place;
  // Empty lines before the row are not part of it.
  while (consumed < static_cast<int64_t>(text.text.size()) &&
         (text.text[static_cast<size_t>(consumed)] == '\n' ||
          text.text[static_cast<size_t>(consumed)] == '\r')) {
    ++consumed;
  }
  const auto line =
      LineNumber(*text.path, ToTextFormat(options_), text.position + consumed, pool_);
  if (line.ok()) place += ", line " + std::to_string(*line);
  return place;
}

arrow::Status CsvBlockReader::ExplainParse(const CsvText& text, int64_t row,
                                           const arrow::Status& status) const {
  return arrow::Status::Invalid("Expected ", num_columns_, " fields in ",
                                Place(text, row), ": ", status.message());
}

arrow::Status CsvBlockReader::ExplainConvert(const CsvText& text, int field,
                                             int64_t num_rows,
                                             const arrow::Status& status) const {
  const auto& converter = converters_[static_cast<size_t>(field)];
  const int column = column_indices_[static_cast<size_t>(field)];
  // The first row whose inclusion makes it fail, by bisection: rows before `good`
  // convert.
  int64_t good = 0;
  int64_t bad = num_rows;
  while (good + 1 < bad) {
    const int64_t middle = good + (bad - good) / 2;
    const auto parser = MakeParser(middle);
    int64_t consumed = 0;
    ARROW_RETURN_NOT_OK(Parse(text, middle, parser.get(), &consumed));
    (converter->Convert(*parser, column).ok() ? good : bad) = middle;
  }
  const auto parser = MakeParser(bad);
  int64_t consumed = 0;
  ARROW_RETURN_NOT_OK(Parse(text, bad, parser.get(), &consumed));
  std::string value;
  int64_t row = 0;
  ARROW_RETURN_NOT_OK(parser->VisitColumn(
      column, [&](const uint8_t* data, uint32_t size, bool /*quoted*/, bool /*missing*/) {
        constexpr uint32_t kShown = 100;
        if (++row == bad) {
          value.assign(reinterpret_cast<const char*>(data), std::min(size, kShown));
        }
        return arrow::Status::OK();
      }));
  const auto& name = schema_->field(field)->name();
  const auto& type = schema_->field(field)->type();
  if (type->id() == arrow::Type::LARGE_STRING) {
    return arrow::Status::Invalid("Expected UTF-8 text in ", Place(text, bad - 1),
                                  ", column '", name, "': ", status.message());
  }
  ARROW_ASSIGN_OR_RAISE(const CsvGuess guess,
                        GuessColumn(*parser, column, convert_options_, pool_));
  const char* fix = guess == CsvGuess::kFloat64 ? "float64" : "string";
  const char* origin = options_.dtype.contains(name)
                           ? "dtype asks for this type"
                           : "Types are inferred from samples of the files";
  return arrow::Status::Invalid(
      "Expected ", type->ToString(), " in ", Place(text, bad - 1), ", column '", name,
      "', got '", value, "'. ", origin, "; to read this column pass dtype={'", name,
      "': '", fix, "'}");
}

}  // namespace xshards::io
