// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/options/option_map.h"
#include "io/options/split_size.h"
#include "io/text/bad_lines.h"
#include "io/text/text_compression.h"
#include "io/text/text_encoding.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read CSV. The names and defaults are those of pandas.read_csv.
struct XSHARDS_EXPORT CsvOptions {
  char sep = ',';
  /// Instead of `sep`, and not only one character: quotes mean nothing then, and lines
  /// lose the blanks around them. What pandas' Python engine does.
  std::string long_sep{};
  /// Instead of `sep`, any number of blanks and tabs; none before the first field.
  bool delim_whitespace = false;
  bool skipinitialspace = false;  // leave out blanks before fields
  /// Whether a line of column names comes first; unset: yes, unless `names` are given.
  std::optional<bool> header{};
  /// Which line has them, counted without those that are left out; those before it are
  /// ignored.
  int64_t header_row = 0;
  std::vector<std::string> names{};
  /// Read only these columns, in the order of the file.
  std::optional<std::vector<std::string>> usecols{};
  /// Types by column name, see TypeFromName; other columns are inferred.
  std::map<std::string, std::string> dtype{};
  /// Columns of times, by name, and the format of each, as for strptime: all times are
  /// written so, or the column is text. See TimeFormat.
  std::map<std::string, std::string> times{};
  std::optional<char> quotechar = '"';  // unset: quotes are ordinary characters
  bool doublequote = true;              // whether two quotes inside quotes stand for one
  std::optional<char> escapechar{};
  std::optional<char> comment{};         // ignore the rest of the line from here
  std::vector<std::string> na_values{};  // missing, besides pandas' own list
  /// Missing in single columns, by name, besides na_values.
  std::map<std::string, std::vector<std::string>> column_na_values{};
  bool keep_default_na = true;              // whether that list is missing, too
  bool na_filter = true;                    // unset: nothing is missing
  std::vector<std::string> true_values{};   // besides "true", in any case
  std::vector<std::string> false_values{};  // besides "false"
  char decimal = '.';                       // the decimal point
  std::optional<char> thousands{};          // between thousands of numbers
  /// Infer no integers: as csv.QUOTE_NONNUMERIC does in pandas.
  bool numbers_are_floats = false;
  int64_t skiprows = 0;    // lines left out at the start of every file
  int64_t skipfooter = 0;  // and at the end
  /// More lines to leave out, by number, ascending. The first line of a file is 0; a line
  /// end in quotes ends none.
  std::vector<int64_t> skip_lines{};
  /// Unset: an empty line is a row, too, whose values are missing.
  bool skip_blank_lines = true;
  /// What to do with records that have more fields than the first one.
  BadLines on_bad_lines = BadLines::kError;
  std::optional<int64_t> nrows{};
  TextEncoding encoding = TextEncoding::kUtf8;
  std::optional<TextCompression> compression{};  // unset: as the files' names say
  SplitSize split{};

  arrow::Status Validate() const;
  bool has_header() const { return header.value_or(names.empty()); }

  OptionMap ToMap() const;
  static arrow::Result<CsvOptions> FromMap(const OptionMap& map);
};

}  // namespace xshards::io
