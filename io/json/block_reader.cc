// SPDX-License-Identifier: Apache-2.0
#include "io/json/block_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <arrow/array/util.h>
#include <arrow/compute/cast.h>

#include "io/json/record_boundaries.h"
#include "io/text/parse_error.h"
#include "io/text/type_mismatch_location.h"

namespace xshards::io {
namespace {

arrow::Result<std::shared_ptr<arrow::Array>> CastTo(
    const std::shared_ptr<arrow::Array>& text, const arrow::Field& field,
    arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool, nullptr);
  auto cast = arrow::compute::Cast(*text, field.type(),
                                   arrow::compute::CastOptions::Safe(), &context);
  if (cast.ok()) return cast;
  return cast.status().WithMessage("Expected ", field.type()->ToString(), " for key '",
                                   field.name(),
                                   "' as given in dtype: ", cast.status().message());
}

}  // namespace

JsonRecords::JsonRecords(JsonRecordFormat format, arrow::MemoryPool* pool)
    : format_(std::move(format)),
      pool_(pool),
      on_demand_(format_.layout, pool),
      loop_(RecordLoopFor(format_.target)) {
  state_.on_demand = &on_demand_;
  state_.is_array = format_.layout == JsonLayout::kArray;
}

arrow::Result<std::unique_ptr<JsonRecords>> JsonRecords::Make(JsonRecordFormat format,
                                                              arrow::MemoryPool* pool) {
  std::unique_ptr<JsonRecords> made(new JsonRecords(std::move(format), pool));
  const auto& wanted = made->format_.wanted->fields();
  const auto& known = made->format_.known->fields();
  // A key unknown to the schema matters if complete records are requested.
  ARROW_ASSIGN_OR_RAISE(made->columns_,
                        MakeJsonObject({.wanted = wanted,
                                        .known = known,
                                        .settled = made->format_.settled,
                                        .inferred = made->format_.inferred,
                                        .is_closed = wanted.size() == known.size()},
                                       pool));
  made->state_.record = made->columns_.get();
  return made;
}

arrow::Status JsonRecords::OpenArray(const JsonInput::Block& block, const char** begin) {
  if (block.position != 0) {
    state_.place = JsonArrayPlace::kAfterComma;  // cut before a record
    return arrow::Status::OK();
  }
  const char* const p = SkipJsonBlanks(*begin, true);
  if (*p != '[') {
    return NotJson(format_.path, block, *begin,
                   {.at = p, .expected = "an array of objects"}, pool_);
  }
  *begin = p + 1;
  return arrow::Status::OK();
}

arrow::Result<int64_t> JsonRecords::Append(const JsonInput::Block& block) {
  const char* begin = block.text;
  const char* const end = begin + block.size;
  if (!state_.is_array) {
    if (!IsUtf8(begin, end)) {
      ARROW_RETURN_NOT_OK(AppendLines(block));
      return block.size;
    }
    return AppendText(block, begin, end);
  }
  const char* const checked = block.is_last ? end : WholeCharactersEnd(begin, end);
  if (!IsUtf8(begin, checked)) {
    return Undecodable("Could not read '" + format_.path +
                           "': Expected UTF-8 in the block at byte " +
                           std::to_string(block.position),
                       "utf-8", std::string(begin, checked));
  }
  if (state_.record_begin == nullptr) {
    // There may be only part of a byte order mark, or blanks.
    const bool is_short = block.size < 4 || SkipJsonBlanks(begin, true) >= end;
    if (is_short && !block.is_last) return 0;
    ARROW_RETURN_NOT_OK(OpenArray(block, &begin));
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t used, AppendText(block, begin, end));
  if (!block.is_last) return used;
  // A split of the array ends before the first record of the next split.
  const auto place =
      format_.is_final ? JsonArrayPlace::kEnd : JsonArrayPlace::kAfterComma;
  if (state_.place != place) {
    return NotJson(format_.path, block, end, {.at = end, .expected = "',' or ']'"},
                   pool_);
  }
  return used;
}

arrow::Result<int64_t> JsonRecords::AppendText(const JsonInput::Block& block,
                                               const char* begin, const char* end) {
  while (loop_(state_, begin, end) == nullptr) {
    if (state_.stop == JsonStop::kNoMemory) {
      return arrow::Status::OutOfMemory("Not enough memory for the columns of '",
                                        format_.path, "'");
    }
    // The first error is a value that does not fit: check whether the rest is JSON.
    if (state_.stop == JsonStop::kTypeMismatch &&
        on_demand_.Check(state_.record_begin, end, &state_.fault) == nullptr) {
      state_.stop = JsonStop::kFault;
    }
    if (state_.is_array) {
      const bool is_cut = !block.is_last && state_.stop == JsonStop::kFault &&
                          end - state_.fault.at <= kLongestJsonToken;
      if (is_cut) return state_.record_begin - block.text;
      return Explain(block, end);
    }
    if (state_.stop == JsonStop::kTypeMismatch) return ExplainTypeMismatch(block, end);
    ARROW_RETURN_NOT_OK(LeaveOut(block, state_.record_begin, state_.fault));
    begin = JsonLineEnd(state_.record_begin, end);
  }
  return end - block.text;
}

// Line by line, since some are not UTF-8.
arrow::Status JsonRecords::AppendLines(const JsonInput::Block& block) {
  const char* const end = block.text + block.size;
  for (const char* line = block.text; line < end;) {
    const char* const line_end = JsonLineEnd(line, end);
    if (IsUtf8(line, line_end)) {
      ARROW_RETURN_NOT_OK(AppendText(block, line, line_end).status());
    } else {
      ARROW_RETURN_NOT_OK(LeaveOut(block, line, {.at = line, .expected = kUtf8}));
    }
    line = line_end;
  }
  return arrow::Status::OK();
}

arrow::Status JsonRecords::LeaveOut(const JsonInput::Block& block, const char* line,
                                    const JsonFault& fault) {
  if (format_.on_bad_lines == BadLines::kSkip) return arrow::Status::OK();
  const bool is_error = format_.on_bad_lines == BadLines::kError;
  if (!is_error && num_bad_lines_++ > 0) return arrow::Status::OK();
  // Finding the line number takes time.
  auto error = NotJson(format_.path, block, line, fault, pool_);
  if (is_error) return error;
  first_bad_line_ = error.message();
  return arrow::Status::OK();
}

arrow::Status JsonRecords::Explain(const JsonInput::Block& block, const char* end) {
  if (state_.stop == JsonStop::kTypeMismatch) return ExplainTypeMismatch(block, end);
  return NotJson(format_.path, block, state_.record_begin, state_.fault, pool_);
}

arrow::Status JsonRecords::ExplainTypeMismatch(const JsonInput::Block& block,
                                               const char* end) {
  const int32_t key = columns_->failed_key;
  const bool is_new = key == 0;
  const auto& name = is_new ? state_.scratch : format_.wanted->field(key - 1)->name();
  const auto& settled = format_.settled;
  const bool is_asked = std::find(settled.begin(), settled.end(), name) != settled.end();
  const char* const record = state_.record_begin;
  if (format_.inferred && !is_asked) {
    return TypeMismatchAt("", name, format_.path,
                          {.begin = block.position + (record - block.text)});
  }
  JsonFault ignored;
  const char* const record_end = on_demand_.Check(record, end, &ignored);
  const auto type =
      is_new ? "no such key" : format_.wanted->field(key - 1)->type()->ToString();
  return arrow::Status::Invalid(
      "Could not read ",
      JsonPlace(format_.path, block.position + (record - block.text), pool_),
      ": Expected ", type, " for key '", name,
      is_asked ? "' as given in dtype" : "' as inferred before; did the file change?",
      ". The record: ",
      ShortenJson(std::string_view(record, static_cast<size_t>(record_end - record))));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> JsonRecords::Finish() {
  const int64_t num_rows = std::exchange(state_.num_rows, 0);
  ARROW_ASSIGN_OR_RAISE(auto data, FinishColumns(columns_.get()));
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < data.size(); ++i) {
    const auto& field = *format_.wanted->field(static_cast<int>(i));
    auto array = arrow::MakeArray(data[i]);
    if (!array->type()->Equals(*field.type())) {
      ARROW_ASSIGN_OR_RAISE(array, CastTo(array, field, pool_));
    }
    arrays.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(format_.wanted, num_rows, std::move(arrays));
}

}  // namespace xshards::io
