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

/// How long a text may be: positions have 32 bits.
inline constexpr int64_t kMaxCsvBlockBytes = 1LL << 31;

/// The fields of the whole records in a piece of text. Reused from piece to piece.
class CsvRows {
 public:
  explicit CsvRows(const CsvOptions& options);

  /// Find the fields. `text` begins at the start of a record and has kNumberPadding bytes
  /// in front and kCsvPadding behind, the first two of which are written to where a last
  /// record, `is_last`, has no line end. Lines of blanks only are left out. Records with
  /// fewer than `num_columns` fields are filled up with empty ones; 0 takes them as they
  /// are. Stops early where that would take too much memory. A text that ends in a
  /// carriage return may end before its line feed, so that where lines count that line is
  /// not whole unless `is_last`.
  void Find(char* text, int64_t size, bool is_last, int64_t num_columns);

  /// Say that the text that comes next begins with this line of the file, the first of
  /// which is 0, so that the lines that options name are left out.
  void NumberFrom(int64_t line);
  /// The number of the line behind the last whole record, where lines are numbered.
  int64_t line() const { return line_; }

  int64_t num_rows() const { return static_cast<int64_t>(firsts_.size()); }
  /// How much of the text is whole records, blank lines included.
  int64_t consumed() const { return consumed_; }
  bool is_ascii() const { return found_.is_ascii; }
  /// Whether the text ends inside quotes.
  bool in_quotes() const { return found_.in_quotes; }
  /// Whether the last text ends in an escape character, with nothing behind it.
  bool ends_escaped() const { return ends_escaped_; }
  struct LongRow {
    const char* begin = nullptr;
    int64_t num_fields = 0;
    int64_t next_row = 0;  // the row that follows
  };
  /// The first record with more than `num_columns` fields; the rows end before it.
  const std::optional<LongRow>& too_long() const { return too_long_; }
  /// Such records where they are left out with a warning.
  const std::vector<LongRow>& left_out() const { return left_out_; }

  const char* text() const { return text_; }
  /// The fields of a column, for loops over it. `ends[firsts[row]]` is where its field of
  /// a row ends, which begins behind the position that precedes that one.
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
    int64_t number = 0;      // where lines are numbered
    int64_t begin = 0;       // in the text
    int64_t end = 0;         // behind its line end, of two characters the first
    int64_t num_fields = 0;  // none in an empty line
  };
  /// The line of a row, only where rows are taken as they are.
  const Line& LineOf(int64_t row) const { return lines_[static_cast<size_t>(row)]; }
  int64_t NumFields(int64_t row) const { return LineOf(row).num_fields; }

 private:
  // Find fields and lines, into ends_, last_fields_ and found_.
  void FindPlain(const char* text, int64_t size);
  void FindOdd(const char* text, int64_t size);
  void GatherRows(int64_t size, bool is_last, int64_t num_columns);
  // Whether some lines are left out for their numbers.
  bool numbers_lines() const {
    return line_ < skip_first_ || next_skipped_ < skip_lines_.size();
  }
  bool IsSkipped(int64_t line);
  // Whether a line is but the line feed behind a carriage return.
  bool IsSecondLineEnd(uint32_t begin, uint32_t end) const {
    return begin == end && begin > 0 && text_[begin] == '\n' && text_[begin - 1] == '\r';
  }
  // How many positions the fields of a row take in ends_: with the one before the first.
  size_t NumPositions(int64_t num_fields) const {
    return static_cast<size_t>(stride_ * (num_fields - 1) + 2);
  }
  // Copy a short record to `filled` with empty fields behind it; returns where.
  uint32_t FillUp(uint32_t row, int64_t num_fields, int64_t num_columns, size_t* filled);

  const CsvMarks marks_;
  // Set: fields are found byte by byte, and need not begin where the one before ends. So
  // ends_ has two positions for each of them.
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
  ScratchVector<uint32_t> ends_;  // behind a first one, which makes fields begin at 0
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
