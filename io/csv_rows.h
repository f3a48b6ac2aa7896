// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/csv_odd_structure.h"
#include "io/csv_options.h"
#include "io/csv_structure.h"

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
  /// are. Stops early where that would take too much memory.
  void Find(char* text, int64_t size, bool is_last, int64_t num_columns);

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
  };
  /// The first record with more than `num_columns` fields; the rows end before it.
  const std::optional<LongRow>& too_long() const { return too_long_; }

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
  /// Only where rows are taken as they are.
  int64_t NumFields(int64_t row) const { return num_fields_[static_cast<size_t>(row)]; }

 private:
  // Find fields and lines, into ends_, last_fields_ and found_.
  void FindPlain(const char* text, int64_t size);
  void FindOdd(const char* text, int64_t size);
  void GatherRows(int64_t num_columns);
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
  const FindCsvFields find_;
  const char* text_ = nullptr;
  std::vector<uint32_t> ends_;  // behind a first one, which makes fields begin at 0
  std::vector<uint32_t> last_fields_;
  std::vector<uint32_t> line_ends_;  // only with odd_
  std::vector<uint32_t> firsts_;
  std::vector<int64_t> num_fields_;
  CsvFieldEnds found_;
  int64_t consumed_ = 0;
  bool ends_escaped_ = false;
  std::optional<LongRow> too_long_;
};

}  // namespace xshards::io
