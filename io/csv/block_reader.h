// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "io/csv/convert/column_converter.h"
#include "io/csv/options.h"
#include "io/csv/parse/rows.h"
#include "io/csv/parse/value_kinds.h"
#include "io/text/text_input.h"

namespace xshards::io {

/// Properties of the file that the reader of a split needs.
struct CsvSource {
  std::string path;
  std::vector<std::string> columns;     // all columns of the file, in its order
  bool inferred = false;                // whether types not given in `dtype` are inferred
  int64_t begin = 0;                    // of the split
  std::optional<int64_t> first_line{};  // of the split, if some lines are skipped
};

/// Turns blocks of text into batches, on the calling thread. Not thread-safe.
class CsvBlockReader {
 public:
  /// `schema` has the columns to convert.
  static arrow::Result<std::unique_ptr<CsvBlockReader>> Make(
      const CsvOptions& options, CsvSource source, std::shared_ptr<arrow::Schema> schema,
      arrow::MemoryPool* pool);

  /// Take the next block, which begins at `position` of the text; returns how much of it
  /// is complete records. All records of the previous block must have been read and
  /// checked.
  arrow::Result<int64_t> SetBlock(const TextBlocks::Block& block, int64_t position);
  int64_t rows_in_block() const { return num_readable_ - next_row_; }
  /// The error of the record after the rows of the block, if any: only needed if more
  /// rows are requested. Invalid names file and line.
  arrow::Status CheckPassed() const;
  struct LeftOut {
    int64_t count = 0;
    std::string first;  // the error of the first of all
  };
  /// The records before the rows read so far that were skipped with a warning and not yet
  /// reported; including those after the block's last row if it `is_passed`.
  LeftOut TakeLeftOut(bool is_passed);

  /// Begin a batch of at most `capacity` rows.
  arrow::Status Start(int64_t capacity);
  /// Convert the next rows of the block. Invalid names file, line, column and value of a
  /// mismatch, and the fix.
  arrow::Status Append(int64_t num_rows);
  int64_t rows_in_batch() const { return rows_in_batch_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish();

 private:
  CsvBlockReader(const CsvOptions& options, CsvSource source,
                 std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool);

  // The first requested field of a row that is not UTF-8, if any.
  std::optional<size_t> FindNotUtf8(int64_t row) const;
  // The number of rows of the block before the first with such a field.
  int64_t CountUtf8Rows() const;
  // The error of that row.
  arrow::Status NotUtf8(int64_t row) const;
  // The error of a text that ends inside quotes.
  arrow::Status OpenQuote() const;
  arrow::Status TypeMismatchError(size_t field, int64_t row);
  TextPlace PlaceOf(const char* at) const;
  // "'path', line 7"
  std::string Place(const char* at) const;
  // "Expected 3 fields in 'path', line 7, saw 4"
  std::string TooLong(const CsvRows::LongRow& row) const;

  const CsvOptions options_;
  const CsvSource source_;
  const std::shared_ptr<arrow::Schema> schema_;
  const CsvColumnValues values_;
  arrow::MemoryPool* const pool_;
  std::vector<int64_t>
      column_indices_;  // for each field of schema_, its position in the file
  std::vector<std::unique_ptr<CsvColumn>> columns_;
  CsvRows rows_;
  TextBlocks::Block block_;   // referenced by rows_
  int64_t position_ = 0;      // of the block
  int64_t num_readable_ = 0;  // rows, before the first that cannot be read
  int64_t next_row_ = 0;
  size_t next_left_out_ = 0;  // of the block's
  bool has_left_out_ = false;
  int64_t rows_in_batch_ = 0;
};

}  // namespace xshards::io
