// SPDX-License-Identifier: Apache-2.0
#include "io/csv_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

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
      skips_blank_(options.skip_blank_lines),
      on_bad_lines_(options.on_bad_lines),
      skip_first_(options.skiprows),
      skip_lines_(options.skip_lines),
      // Not numbered: behind all lines that are left out.
      next_skipped_(skip_lines_.size()),
      line_(skip_first_),
      find_(CsvFieldFinder(BestCsvTarget())) {}

void CsvRows::NumberFrom(int64_t line) {
  line_ = line;
  next_skipped_ =
      static_cast<size_t>(std::lower_bound(skip_lines_.begin(), skip_lines_.end(), line) -
                          skip_lines_.begin());
}

bool CsvRows::IsSkipped(int64_t line) {
  while (next_skipped_ < skip_lines_.size() && skip_lines_[next_skipped_] < line) {
    ++next_skipped_;
  }
  return line < skip_first_ ||
         (next_skipped_ < skip_lines_.size() && skip_lines_[next_skipped_] == line);
}

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
  GatherRows(size, is_last, num_columns);
}

void CsvRows::GatherRows(int64_t size, bool is_last, int64_t num_columns) {
  firsts_.resize(static_cast<size_t>(found_.num_lines));
  num_fields_.clear();
  lines_.clear();
  left_out_.clear();
  too_long_.reset();
  consumed_ = 0;
  size_t num_rows = 0;
  size_t filled = static_cast<size_t>(found_.num_ends) + 1;  // where filled-up rows go
  const bool counts_lines = !skips_blank_ || numbers_lines();
  // Where lines count, each is looked at.
  const int64_t usual_fields = counts_lines ? 0 : num_columns;
  uint32_t first = 0;
  for (int64_t line = 0; line < found_.num_lines; ++line) {
    const uint32_t last = last_fields_[static_cast<size_t>(line)];
    const uint32_t next = std::exchange(first, last + 1);
    const int64_t num_fields = int64_t{last} - next + 1;
    uint32_t row = next;
    if (num_fields != usual_fields || num_fields == 1) {
      const uint32_t begin = ends_[next] + 1;
      const uint32_t end = ends_[next + 1];
      const int64_t line_end = int64_t{ends_[last + 1]} + 1;
      if (counts_lines) {
        if (IsSecondLineEnd(begin, end)) {
          consumed_ = line_end;
          continue;
        }
        if (!is_last && line_end == size && text_[size - 1] == '\r') break;
      }
      const bool is_blank = num_fields == 1 && IsBlank({text_ + begin, end - begin});
      const bool is_too_long =
          num_fields > num_columns && num_columns > 0 && !ignores_extra_;
      const bool is_skipped = counts_lines && IsSkipped(line_);
      if (is_skipped || (is_blank && skips_blank_) ||
          (is_too_long && on_bad_lines_ != BadLines::kError)) {
        if (!is_skipped && is_too_long && on_bad_lines_ == BadLines::kWarn) {
          left_out_.push_back({.begin = text_ + begin,
                               .num_fields = num_fields,
                               .next_row = static_cast<int64_t>(num_rows)});
        }
        consumed_ = line_end;
        ++line_;
        continue;
      }
      if (num_columns == 0) {
        num_fields_.push_back(is_blank && begin == end ? 0 : num_fields);
        lines_.push_back(line_);
      }
      if (is_too_long) {
        too_long_ = {.begin = text_ + begin, .num_fields = num_fields};
        break;
      }
      if (num_fields < num_columns) {
        if (filled > static_cast<size_t>(found_.num_ends) + 1 + kMaxFilled) break;
        row = FillUp(next, num_fields, num_columns, &filled);
      }
      ++line_;
    }
    firsts_[num_rows++] = row;
    consumed_ = int64_t{ends_[last + 1]} + 1;
  }
  firsts_.resize(num_rows);
  // A line that is left out may leave its quotes open.
  if (is_last && found_.in_quotes && counts_lines && IsSkipped(line_)) {
    consumed_ = size;
    found_.in_quotes = false;
  }
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
