// SPDX-License-Identifier: Apache-2.0
#include "io/csv_rows.h"

#include <algorithm>
#include <limits>

namespace xshards::io {
namespace {

// How many fields short records of one piece of text may be filled up with: a few bytes
// of text could otherwise become rows of thousands of columns each.
constexpr size_t kMaxFilled = 1 << 20;

CsvMarks MarksOf(const CsvOptions& options) {
  return {.sep = static_cast<uint8_t>(options.sep),
          .quote = static_cast<uint8_t>(options.quotechar.value_or('\0')),
          .has_quote = options.quotechar.has_value()};
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// How many fields a text has at most. A long one, of a huge field, is looked at first:
// room for as many as it has bytes would be many times its size.
int64_t MaxFields(const char* text, int64_t size, char sep) {
  constexpr int64_t kShort = 1 << 20;
  if (size <= kShort) return size;
  return std::count_if(text, text + size,
                       [sep](char c) { return c == sep || c == '\n' || c == '\r'; });
}

}  // namespace

CsvRows::CsvRows(const CsvOptions& options)
    : marks_(MarksOf(options)),
      escape_(options.escapechar),
      ignores_extra_(options.usecols.has_value()),
      find_(CsvFieldFinder(BestCsvTarget())) {}

void CsvRows::Find(char* text, int64_t size, bool is_last, int64_t num_columns) {
  text_ = text;
  if (is_last && size > 0 && text[size - 1] != '\n') text[size++] = '\n';
  const auto room = static_cast<size_t>(
      MaxFields(text, size, static_cast<char>(marks_.sep)) + kCsvPadding);
  if (last_fields_.size() < room) last_fields_.resize(room);
  if (ends_.size() < room + 1) ends_.resize(room + 1);
  ends_[0] = std::numeric_limits<uint32_t>::max();
  found_.ends = ends_.data() + 1;
  found_.last_fields = last_fields_.data();
  const auto* bytes = reinterpret_cast<const uint8_t*>(text);
  if (escape_.has_value()) {
    FindEscapedCsvFields(bytes, size, marks_, static_cast<uint8_t>(*escape_), &found_);
  } else {
    find_(bytes, size, marks_, &found_);
  }
  GatherRows(num_columns);
}

void CsvRows::GatherRows(int64_t num_columns) {
  firsts_.resize(static_cast<size_t>(found_.num_lines));
  num_fields_.clear();
  too_long_.reset();
  consumed_ = 0;
  size_t num_rows = 0;
  size_t filled = static_cast<size_t>(found_.num_ends) + 1;  // where filled-up rows go
  uint32_t first = 0;
  for (int64_t line = 0; line < found_.num_lines; ++line) {
    const uint32_t last = last_fields_[static_cast<size_t>(line)];
    const int64_t num_fields = int64_t{last} - first + 1;
    uint32_t row = first;
    if (num_fields != num_columns || num_fields == 1) {
      const uint32_t begin = ends_[first] + 1;
      const uint32_t end = ends_[first + 1];
      if (num_fields == 1 && IsBlank({text_ + begin, end - begin})) {
        consumed_ = int64_t{end} + 1;
        first = last + 1;
        continue;
      }
      if (num_columns == 0) num_fields_.push_back(num_fields);
      if (num_fields > num_columns && num_columns > 0 && !ignores_extra_) {
        too_long_ = {.begin = text_ + begin, .num_fields = num_fields};
        break;
      }
      if (num_fields < num_columns) {
        if (filled > static_cast<size_t>(found_.num_ends) + 1 + kMaxFilled) break;
        row = FillUp(first, num_fields, num_columns, &filled);
      }
    }
    firsts_[num_rows++] = row;
    consumed_ = int64_t{ends_[last + 1]} + 1;
    first = last + 1;
  }
  firsts_.resize(num_rows);
}

uint32_t CsvRows::FillUp(uint32_t first, int64_t num_fields, int64_t num_columns,
                         size_t* filled) {
  const size_t needed = *filled + static_cast<size_t>(num_columns) + 1;
  if (ends_.size() < needed) ends_.resize(std::max(needed, 2 * ends_.size()));
  // A copy of the record's ends, with the one before it, and then ends that follow each
  // other: the fields between them are empty.
  auto to = ends_.begin() + static_cast<std::ptrdiff_t>(*filled);
  to = std::copy_n(ends_.begin() + first, num_fields + 1, to);
  for (int64_t i = num_fields; i < num_columns; ++i, ++to) *to = *(to - 1) + 1;
  const auto row = static_cast<uint32_t>(*filled);
  *filled = needed;
  return row;
}

}  // namespace xshards::io
