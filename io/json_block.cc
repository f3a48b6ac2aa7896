// SPDX-License-Identifier: Apache-2.0
#include "io/json_block.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/util/utf8.h>

#include "io/text_input.h"

namespace xshards::io {
namespace {

// A token that is cut at the end of a block shows at most this far before it.
constexpr int64_t kLongestToken = 16;

bool IsAscii(const char* begin, const char* end) {
  uint64_t any = 0;
  const char* p = begin;
  for (; end - p >= 8; p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    any |= word;
  }
  for (; p < end; ++p) any |= static_cast<uint64_t>(*p & 0x80);
  return (any & 0x8080808080808080ULL) == 0;
}

bool IsUtf8(const char* begin, const char* end) {
  return IsAscii(begin, end) ||
         arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(begin), end - begin);
}

// Drop a character that is cut in two.
const char* WholeCharacters(const char* begin, const char* end) {
  const char* p = end;
  while (p > begin && end - p < 3 && (p[-1] & 0xC0) == 0x80) --p;
  return p > begin && (p[-1] & 0xC0) == 0xC0 ? p - 1 : end;
}

const char* LineEnd(const char* p, const char* end) {
  const void* found = std::memchr(p, '\n', static_cast<size_t>(end - p));
  return found == nullptr ? end : static_cast<const char*>(found) + 1;
}

// Check a record; also that its line ends behind it.
const char* SkipRecord(const char* p, const char* end, bool is_array, JsonFault* fault) {
  if (*p != '{') return fault->Set(p, "one JSON object");
  p = SkipJsonValue(p, is_array, kJsonDepth, fault);
  if (p == nullptr || is_array) return p;
  p = SkipJsonBlanks(p, false);
  return *p == '\n' || p >= end ? p : fault->Set(p, "the end of the line");
}

std::string Shorten(std::string_view text) {
  constexpr size_t kShown = 200;
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() <= kShown) return std::string(text);
  return std::string(text.substr(0, kShown)) + "...";
}

std::string Place(const std::string& path, int64_t position, arrow::MemoryPool* pool) {
  const auto line = LineNumber(path, {}, position, pool);
  return "'" + path + "'" + (line.ok() ? ", line " + std::to_string(*line) : "");
}

arrow::Status NotJson(const JsonRecordFormat& format, const JsonInput::Block& block,
                      const JsonFault& fault, const char* record,
                      arrow::MemoryPool* pool) {
  const char* const end = block.text + block.size;
  const char* const line_end = LineEnd(record, end);
  const bool is_here = fault.at >= record && fault.at < end && *fault.at > ' ';
  const std::string found =
      is_here
          ? ", got " +
                Shorten(std::string_view(
                    fault.at, static_cast<size_t>(std::min<int64_t>(20, end - fault.at))))
          : ", got the end of it";
  return arrow::Status::Invalid(
      "Could not read ", Place(format.path, block.position + (record - block.text), pool),
      ": Expected ", fault.expected, found, " (character ", fault.at - record + 1,
      "). The line: ",
      Shorten(std::string_view(record, static_cast<size_t>(line_end - record))));
}

arrow::Result<std::shared_ptr<arrow::Array>> CastTo(
    const std::shared_ptr<arrow::Array>& text, const arrow::Field& field,
    arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool, nullptr);
  auto cast = arrow::compute::Cast(*text, field.type(),
                                   arrow::compute::CastOptions::Safe(), &context);
  if (cast.ok()) return cast;
  return cast.status().WithMessage("Expected ", field.type()->ToString(), " for key '",
                                   field.name(),
                                   "' as dtype says: ", cast.status().message());
}

}  // namespace

JsonRecords::JsonRecords(JsonRecordFormat format, arrow::MemoryPool* pool)
    : format_(std::move(format)), pool_(pool), loop_(RecordLoopFor(format_.target)) {
  state_.is_array = format_.layout == JsonLayout::kArray;
}

arrow::Result<std::unique_ptr<JsonRecords>> JsonRecords::Make(JsonRecordFormat format,
                                                              arrow::MemoryPool* pool) {
  std::unique_ptr<JsonRecords> made(new JsonRecords(std::move(format), pool));
  const auto& wanted = made->format_.wanted->fields();
  const auto& known = made->format_.known->fields();
  // A key that the schema does not know matters where all of a record is wanted.
  ARROW_ASSIGN_OR_RAISE(made->columns_,
                        MakeJsonObject(wanted, known, made->format_.settled,
                                       wanted.size() == known.size(), pool));
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
    return NotJson(format_, block, {.at = p, .expected = "an array of objects"}, *begin,
                   pool_);
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
  const char* const checked = block.is_last ? end : WholeCharacters(begin, end);
  if (!IsUtf8(begin, checked)) {
    return arrow::Status::Invalid("Could not read '", format_.path,
                                  "': Expected UTF-8 in the block at byte ",
                                  block.position);
  }
  if (state_.record_begin == nullptr) {
    // There may be no more than a part of a byte order mark, or blanks.
    const bool is_short = block.size < 4 || SkipJsonBlanks(begin, true) >= end;
    if (is_short && !block.is_last) return 0;
    ARROW_RETURN_NOT_OK(OpenArray(block, &begin));
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t used, AppendText(block, begin, end));
  const bool must_end = block.is_last && format_.is_final;
  if (must_end && state_.place != JsonArrayPlace::kEnd) {
    return NotJson(format_, block, {.at = end, .expected = "',' or ']'"}, end, pool_);
  }
  return used;
}

arrow::Result<int64_t> JsonRecords::AppendText(const JsonInput::Block& block,
                                               const char* begin, const char* end) {
  while (loop_(state_, begin, end) == nullptr) {
    if (state_.stop == JsonStop::kNoMemory) {
      return arrow::Status::OutOfMemory("Could not hold the columns of '", format_.path,
                                        "'");
    }
    // What comes first is a value that does not fit, but is the rest JSON?
    if (state_.stop == JsonStop::kMisfit &&
        SkipRecord(state_.record_begin, end, state_.is_array, &state_.fault) == nullptr) {
      state_.stop = JsonStop::kFault;
    }
    if (state_.is_array) {
      const bool is_cut = !block.is_last && state_.stop == JsonStop::kFault &&
                          end - state_.fault.at <= kLongestToken;
      if (is_cut) return state_.record_begin - block.text;
      return Explain(block, end);
    }
    if (state_.stop == JsonStop::kMisfit || format_.on_bad_lines == BadLines::kError) {
      return Explain(block, end);
    }
    ++num_bad_lines_;
    begin = LineEnd(state_.record_begin, end);
  }
  return end - block.text;
}

// Line by line, as some are not UTF-8.
arrow::Status JsonRecords::AppendLines(const JsonInput::Block& block) {
  const char* const end = block.text + block.size;
  for (const char* line = block.text; line < end;) {
    const char* const line_end = LineEnd(line, end);
    if (IsUtf8(line, line_end)) {
      ARROW_RETURN_NOT_OK(AppendText(block, line, line_end).status());
    } else if (format_.on_bad_lines == BadLines::kError) {
      return arrow::Status::Invalid(
          "Could not read ",
          Place(format_.path, block.position + (line - block.text), pool_),
          ": Expected UTF-8");
    } else {
      ++num_bad_lines_;
    }
    line = line_end;
  }
  return arrow::Status::OK();
}

arrow::Status JsonRecords::Explain(const JsonInput::Block& block, const char* end) const {
  const char* const record = state_.record_begin;
  if (state_.stop == JsonStop::kFault) {
    return NotJson(format_, block, state_.fault, record, pool_);
  }
  JsonFault ignored;
  const std::string text(record, SkipRecord(record, end, state_.is_array, &ignored));
  return arrow::Status::Invalid(
      "Could not read ",
      Place(format_.path, block.position + (record - block.text), pool_), ": ",
      ExplainMisfit(text), ". The record: ", Shorten(text));
}

std::string JsonRecords::ExplainMisfit(const std::string& record) const {
  JsonFault fault;
  JsonShape shape;
  std::string padded = record;
  padded.append(static_cast<size_t>(kJsonPadding), '\0');
  shape.Observe(padded.data(), state_.is_array, &fault);
  for (const auto& found : shape.ToFields()) {
    const auto field = format_.known->GetFieldByName(found->name());
    if (field == nullptr) {
      return "Expected only keys seen in samples of the files, got '" + found->name() +
             "'; to read it pass dtype={'" + found->name() + "': ...} with its type";
    }
    const bool is_settled = std::find(format_.settled.begin(), format_.settled.end(),
                                      field->name()) != format_.settled.end();
    JsonShape both;
    both.AddKey(field->name())->Merge(*field);
    JsonShape one;
    one.Observe(padded.data(), state_.is_array, &fault);
    both.Merge(one);
    const auto wider = both.ToFields()[0];
    if (wider->Equals(field, true)) continue;
    return "Expected " + field->type()->ToString() + " for key '" + field->name() +
           (is_settled ? "' as dtype says"
                       : "' as in samples of the files; pass dtype={'" + field->name() +
                             "': ...} with a wider type");
  }
  return "Expected values that fit " + format_.known->ToString();
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

arrow::Status ObserveJson(const JsonInput::Block& block, const JsonRecordFormat& format,
                          JsonShape* shape, arrow::MemoryPool* pool) {
  const bool is_array = format.layout == JsonLayout::kArray;
  const char* const end = block.text + block.size;
  const bool is_utf8 = IsUtf8(block.text, end);
  JsonFault fault;
  const char* p = SkipJsonBlanks(block.text, true);
  if (is_array && block.position == 0 && *p == '[') p = SkipJsonBlanks(p + 1, true);
  while (p < end && *p != ']') {
    const char* const record = p;
    // Only whole records count, and in lines only those that are UTF-8.
    p = SkipRecord(record, end, is_array, &fault);
    if (!is_utf8 && !is_array && !IsUtf8(record, LineEnd(record, end))) {
      p = fault.Set(record, "UTF-8");
    }
    const bool may_be_cut = is_array && !block.is_last;
    if (p == nullptr && may_be_cut && end - fault.at <= kLongestToken) break;
    if (p == nullptr && format.on_bad_lines == BadLines::kError) {
      return NotJson(format, block, fault, record, pool);
    }
    if (p == nullptr) {
      p = LineEnd(record, end);
    } else {
      p = shape->Observe(record, is_array, &fault);
    }
    p = SkipJsonBlanks(p, true);
    if (is_array && *p == ',') p = SkipJsonBlanks(p + 1, true);
  }
  return arrow::Status::OK();
}

}  // namespace xshards::io
