// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/csv/options.h"

namespace xshards::io {

/// What gives text its structure where csv_structure.h does not do.
struct OddCsvMarks {
  explicit OddCsvMarks(const CsvOptions& options);

  std::optional<char> quote;
  std::optional<char> escape;  // takes its meaning from the character that follows
  bool doublequote;            // two quotes inside quotes stand for one
  bool skips_blanks;           // before fields
  std::string separators;      // each of these is one
  bool by_runs;          // several in a row are one, and none before the first field
  std::string long_sep;  // set: it is the only separator
  // By byte: whether it ends a field, and whether it does that or is an escape. Of
  // long_sep, the first byte counts.
  std::array<bool, 256> is_end{};
  std::array<bool, 256> is_special{};
};

/// Whether options ask for such a structure.
bool IsOdd(const CsvOptions& options);

/// Where the fields of a text begin and end. There is room for as many fields and lines
/// as MaxFields says.
struct CsvFieldPairs {
  uint32_t* pairs = nullptr;        // of each field: the byte before it, and its end
  uint32_t* last_fields = nullptr;  // of each line, which field is its last
  uint32_t* line_ends = nullptr;    // and where it ends
  int64_t num_fields = 0;
  int64_t num_lines = 0;
  bool in_quotes = false;  // the text ends inside quotes
  bool is_ascii = true;
};

/// How many fields, or lines, a text has at most.
int64_t MaxFields(std::string_view text, const OddCsvMarks& marks);

/// Find the fields of the whole lines of a text, byte by byte; as FindCsvFields does,
/// which is many times as fast.
void FindOddCsvFields(std::string_view text, const OddCsvMarks& marks,
                      CsvFieldPairs* out);

}  // namespace xshards::io
