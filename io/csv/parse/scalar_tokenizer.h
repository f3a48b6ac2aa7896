// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/csv/options.h"

namespace xshards::io {

/// The structure of CSV text that tokenizer.h does not support.
struct OddCsvMarks {
  explicit OddCsvMarks(const CsvOptions& options);

  std::optional<char> quote;
  std::optional<char> escape;  // makes the following character an ordinary one
  bool doublequote;            // two quotes inside quotes are an escaped quote
  bool skips_blanks;           // before fields
  std::string separators;      // each of these is one
  bool by_runs;  // consecutive separators count as one, none before the first field
  std::string long_sep;  // set: it is the only separator
  // By byte: whether it ends a field, and whether it ends a field or is an escape. For
  // long_sep, its first byte.
  std::array<bool, 256> is_end{};
  std::array<bool, 256> is_special{};
};

/// Whether options require such a structure.
bool IsOdd(const CsvOptions& options);

/// Where the fields of a text begin and end. There is room for MaxFields fields and
/// lines.
struct CsvFieldPairs {
  uint32_t* pairs = nullptr;        // of each field: the byte before it, and its end
  uint32_t* last_fields = nullptr;  // of each line, the index of its last field
  uint32_t* line_ends = nullptr;    // and where it ends
  int64_t num_fields = 0;
  int64_t num_lines = 0;
  bool in_quotes = false;  // the text ends inside quotes
  bool is_ascii = true;
};

/// An upper bound of the number of fields, or lines, of a text.
int64_t MaxFields(std::string_view text, const OddCsvMarks& marks);

/// Find the fields of the complete lines of a text, byte by byte; like FindCsvFields,
/// which is many times faster.
void FindOddCsvFields(std::string_view text, const OddCsvMarks& marks,
                      CsvFieldPairs* out);

}  // namespace xshards::io
