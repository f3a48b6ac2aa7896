// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/csv/converter.h>
#include <arrow/csv/options.h>
#include <arrow/csv/parser.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "io/csv_options.h"

namespace xshards::io {

/// Whole records of CSV text, and possibly the start of another; where the text comes
/// from, for error messages.
struct CsvText {
  std::string_view text;
  bool is_last = false;  // the text ends here, even without a line end
  const std::string* path = nullptr;
  int64_t position = 0;  // of `text` in the file
};

/// Turns blocks of text into batches, on the calling thread. Not thread-safe.
class CsvBlockReader {
 public:
  /// `file_columns` are all columns of the file, in its order; `schema` those to convert.
  static arrow::Result<std::unique_ptr<CsvBlockReader>> Make(
      const CsvOptions& options, const std::vector<std::string>& file_columns,
      std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool);

  struct Result {
    std::shared_ptr<arrow::RecordBatch> batch;
    int64_t consumed = 0;  // how much of the text was whole records
  };

  /// Convert the records, at most `max_rows`. Invalid names file, line, column and value
  /// of what does not fit, and says what to do.
  arrow::Result<Result> Read(const CsvText& text, int64_t max_rows) const;

 private:
  CsvBlockReader(const CsvOptions& options, std::shared_ptr<arrow::Schema> schema,
                 int num_columns, arrow::MemoryPool* pool);

  // Parse at most `max_rows` records.
  arrow::Status Parse(const CsvText& text, int64_t max_rows,
                      arrow::csv::BlockParser* parser, int64_t* consumed) const;
  std::unique_ptr<arrow::csv::BlockParser> MakeParser(int64_t max_rows) const;

  // Say where parsing or converting failed.
  arrow::Status ExplainParse(const CsvText& text, int64_t row,
                             const arrow::Status& status) const;
  arrow::Status ExplainConvert(const CsvText& text, int field, int64_t num_rows,
                               const arrow::Status& status) const;
  // "'path', line 7"
  std::string Place(const CsvText& text, int64_t row) const;

  const CsvOptions options_;
  const arrow::csv::ParseOptions parse_options_;
  const arrow::csv::ConvertOptions convert_options_;  // the converters refer to it
  const std::shared_ptr<arrow::Schema> schema_;
  const int num_columns_;
  arrow::MemoryPool* const pool_;
  std::vector<int> column_indices_;  // for each field of schema_, where it is in the file
  std::vector<std::shared_ptr<arrow::csv::Converter>> converters_;
};

}  // namespace xshards::io
