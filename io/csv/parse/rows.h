// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/csv/options.h"
#include "io/csv/parse/scalar_tokenizer.h"
#include "io/csv/parse/tokenizer.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::io {

/// The maximal length of a text: positions have 32 bits.
inline constexpr int64_t kMaxCsvBlockBytes = 1LL << 31;

/// The fields of the complete records of a text. Reused from text to text.
class CsvRows {
 public:
  explicit CsvRows(const CsvOptions& options);

  /// Find the fields. `text` begins at the start of a record and has kNumberPadding bytes
  /// before it and kCsvPadding after it, the first two of which are written to if the
  /// last record, `is_last`, has no line end. Lines of blanks only are skipped. Records
  /// with fewer than `num_columns` fields are filled with empty ones; 0 leaves them
  /// unchanged. Stops early if that would take too much memory. A text that ends in a
  /// carriage return may end before its line feed, so if lines are numbered that line is
  /// incomplete unless `is_last`.
  void Find(char* text, int64_t size, bool is_last, int64_t num_columns);

  /// Set the line number, from 0, at which the next text begins, so that the lines listed
  /// in the options are skipped.
  void NumberFrom(int64_t line);
  /// The number of the line after the last complete record, if lines are numbered.
  int64_t line() const { return line_; }

  int64_t num_rows() const { return static_cast<int64_t>(firsts_.size()); }
  /// The bytes of the text that are complete records, blank lines included.
  int64_t consumed() const { return consumed_; }
  bool is_ascii() const { return found_.is_ascii; }
  /// Whether the text ends inside quotes.
  bool in_quotes() const { return found_.in_quotes; }
  /// Whether the last text ends in an escape character with nothing after it.
  bool ends_escaped() const { return ends_escaped_; }
  struct LongRow {
    const char* begin = nullptr;
    int64_t num_fields = 0;
    int64_t next_row = 0;  // the row that follows
  };
  /// The first record with more than `num_columns` fields; the rows end before it.
  const std::optional<LongRow>& too_long() const { return too_long_; }
  /// Such records if they are skipped with a warning.
  const std::vector<LongRow>& left_out() const { return left_out_; }

  const char* text() const { return text_; }
  /// The fields of a column, for loops over it. `ends[firsts[row]]` is the end of its
  /// field in a row; the field begins after the preceding position.
  struct Column {
    const char* text = nullptr;
    const uint32_t* ends = nullptr;
    const uint32_t* firsts = nullptr;

    std::string_view Field(int64_t row) const {
      const uint32_t* const end = ends + firsts[row];
      const uint32_t begin = end[-1] + 1;
      return {text + begin, *end - begin};
    }
  };
  Column FieldsOf(int64_t column) const {
    return {text_, ends_.data() + 1 + column * stride_, firsts_.data()};
  }
  std::string_view Field(int64_t row, int64_t column) const {
    return FieldsOf(column).Field(row);
  }
  struct Line {
    int64_t number = 0;      // if lines are numbered
    int64_t begin = 0;       // in the text
    int64_t end = 0;         // after its line end, or after the first of two characters
    int64_t num_fields = 0;  // 0 in an empty line
  };
  /// The line of a row, only if rows are not filled with empty fields.
  const Line& LineOf(int64_t row) const { return lines_[static_cast<size_t>(row)]; }
  int64_t NumFields(int64_t row) const { return LineOf(row).num_fields; }

 private:
  // Find fields and lines, into ends_, last_fields_ and found_.
  void FindPlain(const char* text, int64_t size);
  void FindOdd(const char* text, int64_t size);
  void GatherRows(int64_t size, bool is_last, int64_t num_columns);
  // Whether some lines are skipped by number.
  bool numbers_lines() const {
    return line_ < skip_first_ || next_skipped_ < skip_lines_.size();
  }
  bool IsSkipped(int64_t line);
  // Whether a line is only the line feed after a carriage return.
  bool IsSecondLineEnd(uint32_t begin, uint32_t end) const {
    return begin == end && begin > 0 && text_[begin] == '\n' && text_[begin - 1] == '\r';
  }
  // The number of positions of a row in ends_, including the one before the first field.
  size_t NumPositions(int64_t num_fields) const {
    return static_cast<size_t>(stride_ * (num_fields - 1) + 2);
  }
  // Copy a short record to `filled` and append empty fields; returns its position.
  uint32_t FillUp(uint32_t row, int64_t num_fields, int64_t num_columns, size_t* filled);

  const CsvMarks marks_;
  // If set, fields are found byte by byte, and need not begin where the previous one
  // ends, so ends_ has two positions per field.
  const std::optional<OddCsvMarks> odd_;
  const int64_t stride_;
  const bool ignores_extra_;
  const bool skips_blank_;
  const BadLines on_bad_lines_;
  const int64_t skip_first_;
  const std::vector<int64_t> skip_lines_;
  size_t next_skipped_;  // of skip_lines_
  int64_t line_;
  const FindCsvFields find_;
  const char* text_ = nullptr;
  ScratchVector<uint32_t> ends_;  // after an initial one, which makes fields begin at 0
  ScratchVector<uint32_t> last_fields_;
  ScratchVector<uint32_t> line_ends_;  // only with odd_
  ScratchVector<uint32_t> firsts_;
  std::vector<Line> lines_;
  std::vector<LongRow> left_out_;
  CsvFieldEnds found_;
  int64_t consumed_ = 0;
  bool ends_escaped_ = false;
  std::optional<LongRow> too_long_;
};

}  // namespace xshards::io
