// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "io/json/block_input.h"
#include "io/json/on_demand.h"
#include "io/json/options.h"
#include "io/json/record_parser.h"

namespace xshards::io {

/// How a file's records are read.
struct JsonRecordFormat {
  JsonLayout layout = JsonLayout::kLines;
  BadLines on_bad_lines = BadLines::kError;
  std::string path;  // for messages
  /// The text ends at the end of the file, so that an array must be closed there.
  bool is_final = true;
  std::shared_ptr<arrow::Schema> wanted;
  std::shared_ptr<arrow::Schema> known;  // all keys of the files
  std::vector<std::string> settled;      // columns whose types the user specified
  bool inferred = false;  // whether the other types and the keys are inferred
  JsonTarget target = JsonTarget::kBaseline;
};

/// Collects the records of a split as columns.
class JsonRecords {
 public:
  static arrow::Result<std::unique_ptr<JsonRecords>> Make(JsonRecordFormat format,
                                                          arrow::MemoryPool* pool);

  /// Append the records of a block; returns how much of it was used. Invalid names the
  /// file, the line and the fault; xshards::TypeMismatchError() if a value does not fit
  /// an inferred type or a key was not seen before.
  arrow::Result<int64_t> Append(const JsonInput::Block& block);

  /// Set the approximate number of rows appended before each Finish().
  void Expect(int64_t num_rows) { ExpectRows(columns_.get(), num_rows); }
  int64_t num_rows() const { return state_.num_rows; }
  /// The lines skipped so far, and the error of the first; counted if `on_bad_lines` is
  /// kWarn.
  int64_t num_bad_lines() const { return num_bad_lines_; }
  const std::string& first_bad_line() const { return first_bad_line_; }
  /// Take the rows out.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish();

 private:
  JsonRecords(JsonRecordFormat format, arrow::MemoryPool* pool);

  arrow::Result<int64_t> AppendText(const JsonInput::Block& block, const char* begin,
                                    const char* end);
  arrow::Status AppendLines(const JsonInput::Block& block);
  // The error of a line; OK if such lines are skipped.
  arrow::Status LeaveOut(const JsonInput::Block& block, const char* line,
                         const JsonFault& fault);
  arrow::Status OpenArray(const JsonInput::Block& block, const char** begin);
  arrow::Status Explain(const JsonInput::Block& block, const char* end);
  arrow::Status ExplainTypeMismatch(const JsonInput::Block& block, const char* end);

  JsonRecordFormat format_;
  arrow::MemoryPool* pool_;
  std::unique_ptr<JsonObject> columns_;
  JsonOnDemand on_demand_;
  JsonRecordLoop loop_;
  JsonState state_;
  int64_t num_bad_lines_ = 0;
  std::string first_bad_line_;
};

}  // namespace xshards::io
