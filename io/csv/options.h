// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/status.h>

#include "io/options/split_size.h"
#include "io/text/bad_lines.h"
#include "io/text/text_compression.h"
#include "io/text/text_encoding.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read CSV. The names and defaults are those of pandas.read_csv.
struct XSHARDS_EXPORT CsvOptions {
  char sep = ',';
  /// Instead of `sep`, a separator of several characters: quotes are ordinary characters
  /// then, and lines are stripped. As in pandas' Python engine.
  std::string long_sep{};
  /// Instead of `sep`, any number of blanks and tabs; none before the first field.
  bool delim_whitespace = false;
  bool skipinitialspace = false;  // skip blanks before fields
  /// Whether a line of column names comes first; unset: yes, unless `names` are given.
  std::optional<bool> header{};
  /// The line with the column names, counted without skipped lines; lines before it are
  /// ignored.
  int64_t header_row = 0;
  std::vector<std::string> names{};
  /// Read only these columns, in the order of the file.
  std::optional<std::vector<std::string>> usecols{};
  /// Types by column name, see TypeFromName; other columns are inferred.
  std::map<std::string, std::string> dtype{};
  /// Time columns, by name, and the format of each, as for strptime: if a value has
  /// another format, the column is text. See TimeFormat.
  std::map<std::string, std::string> times{};
  std::optional<char> quotechar = '"';  // unset: quotes are ordinary characters
  bool doublequote = true;  // whether two quotes inside quotes are an escaped quote
  std::optional<char> escapechar{};
  std::optional<char> comment{};  // ignore the rest of the line from here
  std::vector<std::string>
      na_values{};  // null markers in addition to pandas' default list
  /// Null markers of single columns, by name, in addition to na_values.
  std::map<std::string, std::vector<std::string>> column_na_values{};
  bool keep_default_na = true;              // whether that default list applies
  bool na_filter = true;                    // unset: nothing is missing
  std::vector<std::string> true_values{};   // in addition to "true", in any case
  std::vector<std::string> false_values{};  // in addition to "false"
  char decimal = '.';                       // the decimal point
  std::optional<char> thousands{};          // between thousands of numbers
  /// Infer no integers: as csv.QUOTE_NONNUMERIC does in pandas.
  bool numbers_are_floats = false;
  int64_t skiprows = 0;    // lines skipped at the start of every file
  int64_t skipfooter = 0;  // and at the end
  /// More lines to skip, by number, ascending. The first line of a file is 0; a line end
  /// in quotes does not count.
  std::vector<int64_t> skip_lines{};
  /// If false, an empty line is a row whose values are missing.
  bool skip_blank_lines = true;
  /// What to do with records that have more fields than the first one.
  BadLines on_bad_lines = BadLines::kError;
  std::optional<int64_t> nrows{};
  TextEncoding encoding = TextEncoding::kUtf8;
  std::optional<TextCompression> compression{};  // unset: by the files' names
  SplitSize split{};

  arrow::Status Validate() const;
  bool has_header() const { return header.value_or(names.empty()); }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("sep", options.sep);
    visit("long_sep", options.long_sep);
    visit("delim_whitespace", options.delim_whitespace);
    visit("skipinitialspace", options.skipinitialspace);
    visit("header", options.header);
    visit("header_row", options.header_row);
    visit("names", options.names);
    visit("usecols", options.usecols);
    visit("dtype", options.dtype);
    visit("times", options.times);
    visit("quotechar", options.quotechar);
    visit("doublequote", options.doublequote);
    visit("escapechar", options.escapechar);
    visit("comment", options.comment);
    visit("na_values", options.na_values);
    visit("column_na_values", options.column_na_values);
    visit("keep_default_na", options.keep_default_na);
    visit("na_filter", options.na_filter);
    visit("true_values", options.true_values);
    visit("false_values", options.false_values);
    visit("decimal", options.decimal);
    visit("thousands", options.thousands);
    visit("numbers_are_floats", options.numbers_are_floats);
    visit("skiprows", options.skiprows);
    visit("skipfooter", options.skipfooter);
    visit("skip_lines", options.skip_lines);
    visit("skip_blank_lines", options.skip_blank_lines);
    visit("on_bad_lines", options.on_bad_lines);
    visit("nrows", options.nrows);
    visit("encoding", options.encoding);
    visit("compression", options.compression);
    SplitSize::VisitMembers(options.split, visit);
  }
};

}  // namespace xshards::io
