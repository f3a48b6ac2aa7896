// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/rows.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace xshards::io {
namespace {

// The number of empty fields that may be added to the short records of one text:
// otherwise a few bytes of text could become rows of thousands of columns each.
constexpr size_t kMaxFilled = 1 << 20;

CsvMarks MarksOf(const CsvOptions& options) {
  return {.sep = static_cast<uint8_t>(options.sep),
          .quote = static_cast<uint8_t>(options.quotechar.value_or('\0')),
          .has_quote = options.quotechar.has_value()};
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// An upper bound of the number of fields of a text. A long text, with a huge field, is
// scanned first: room for one field per byte would be many times its size.
int64_t MaxFields(const char* text, int64_t size, char sep) {
  constexpr int64_t kShort = 1 << 20;
  if (size <= kShort) return size;
  return std::count_if(text, text + size,
                       [sep](char c) { return c == sep || c == '\n' || c == '\r'; });
}

// With some room to spare: the next text may be a little longer. Contents are not kept.
void MakeRoom(size_t size, ScratchVector<uint32_t>* vector) {
  vector->clear();
  vector->resize(size + size / 4);
}

}  // namespace

CsvRows::CsvRows(const CsvOptions& options)
    : marks_(MarksOf(options)),
      odd_(IsOdd(options) ? std::make_optional<OddCsvMarks>(options) : std::nullopt),
      stride_(odd_.has_value() ? 2 : 1),
      ignores_extra_(options.usecols.has_value()),
      skips_blank_(options.skip_blank_lines),
      on_bad_lines_(options.on_bad_lines),
      skip_first_(options.skiprows),
      skip_lines_(options.skip_lines),
      // Not numbered: after all skipped lines.
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
  ends_escaped_ = false;
  const bool lacks_line_end = is_last && size > 0 && text[size - 1] != '\n';
  if (lacks_line_end) text[size++] = '\n';
  if (odd_.has_value()) {
    FindOdd(text, size);
    // If the last line end is escaped, another one ends the record.
    const bool is_open = found_.num_lines == 0 ||
                         line_ends_[static_cast<size_t>(found_.num_lines - 1)] + 1 < size;
    if (is_last && size > 0 && is_open && !found_.in_quotes) {
      ends_escaped_ = lacks_line_end;
      text[size++] = '\n';
      FindOdd(text, size);
    }
  } else {
    FindPlain(text, size);
  }
  GatherRows(size, is_last, num_columns);
}

void CsvRows::FindPlain(const char* text, int64_t size) {
  const auto room = static_cast<size_t>(
      MaxFields(text, size, static_cast<char>(marks_.sep)) + kCsvPadding);
  if (last_fields_.size() < room) MakeRoom(room, &last_fields_);
  if (ends_.size() < room + 1) MakeRoom(room + 1, &ends_);
  ends_[0] = std::numeric_limits<uint32_t>::max();
  found_.ends = ends_.data() + 1;
  found_.last_fields = last_fields_.data();
  find_(reinterpret_cast<const uint8_t*>(text), size, marks_, &found_);
}

void CsvRows::FindOdd(const char* text, int64_t size) {
  const std::string_view all(text, static_cast<size_t>(size));
  const auto room = static_cast<size_t>(io::MaxFields(all, *odd_));
  if (last_fields_.size() < room) MakeRoom(room, &last_fields_);
  if (line_ends_.size() < room) MakeRoom(room, &line_ends_);
  if (ends_.size() < 2 * room + 1) MakeRoom(2 * room + 1, &ends_);
  CsvFieldPairs found{.pairs = ends_.data(),
                      .last_fields = last_fields_.data(),
                      .line_ends = line_ends_.data()};
  FindOddCsvFields(all, *odd_, &found);
  found_.num_ends = 2 * found.num_fields;
  found_.num_lines = found.num_lines;
  found_.in_quotes = found.in_quotes;
  found_.is_ascii = found.is_ascii;
}

void CsvRows::GatherRows(int64_t size, bool is_last, int64_t num_columns) {
  firsts_.resize(static_cast<size_t>(found_.num_lines));
  lines_.clear();
  left_out_.clear();
  too_long_.reset();
  consumed_ = 0;
  size_t num_rows = 0;
  size_t filled = static_cast<size_t>(found_.num_ends) +
                  1;  // where rows with added fields are written
  const bool counts_lines = !skips_blank_ || numbers_lines();
  // If lines are numbered, each is checked.
  const int64_t usual_fields = counts_lines ? 0 : num_columns;
  int64_t first = 0;
  for (int64_t line = 0; line < found_.num_lines; ++line) {
    const int64_t last = last_fields_[static_cast<size_t>(line)];
    const int64_t num_fields = last - first + 1;
    auto row = static_cast<uint32_t>(stride_ * first);
    const int64_t line_end = stride_ == 1 ? ends_[static_cast<size_t>(last + 1)]
                                          : line_ends_[static_cast<size_t>(line)];
    first = last + 1;
    if (num_fields != usual_fields || num_fields == 1) {
      const uint32_t begin = ends_[row] + 1;
      const uint32_t end = ends_[row + 1];
      if (counts_lines) {
        if (IsSecondLineEnd(begin, end)) {
          consumed_ = line_end + 1;
          continue;
        }
        if (!is_last && line_end + 1 == size && text_[line_end] == '\r') break;
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
        consumed_ = line_end + 1;
        ++line_;
        continue;
      }
      if (num_columns == 0) {
        lines_.push_back({.number = line_,
                          .begin = consumed_,
                          .end = line_end + 1,
                          .num_fields = is_blank && begin == end ? 0 : num_fields});
      }
      if (is_too_long) {
        too_long_ = {.begin = text_ + begin, .num_fields = num_fields};
        break;
      }
      if (num_fields < num_columns) {
        if (filled > static_cast<size_t>(found_.num_ends) + 1 + kMaxFilled) break;
        row = FillUp(row, num_fields, num_columns, &filled);
      }
      ++line_;
    }
    firsts_[num_rows++] = row;
    consumed_ = line_end + 1;
  }
  firsts_.resize(num_rows);
  // A skipped line may leave its quotes open.
  if (is_last && found_.in_quotes && counts_lines && IsSkipped(line_)) {
    consumed_ = size;
    ++line_;
    found_.in_quotes = false;
  }
}

uint32_t CsvRows::FillUp(uint32_t row, int64_t num_fields, int64_t num_columns,
                         size_t* filled) {
  const size_t needed = *filled + NumPositions(num_columns);
  if (ends_.size() < needed) ends_.resize(std::max(needed, 2 * ends_.size()));
  // A copy of the record's positions, with the one before it, and then consecutive
  // positions: the fields between them are empty.
  auto to = ends_.begin() + static_cast<std::ptrdiff_t>(*filled);
  to = std::copy_n(ends_.begin() + row, NumPositions(num_fields), to);
  const auto end = ends_.begin() + static_cast<std::ptrdiff_t>(needed);
  for (; to != end; ++to) *to = *(to - 1) + 1;
  const auto copy = static_cast<uint32_t>(*filled);
  *filled = needed;
  return copy;
}

}  // namespace xshards::io
