// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/option_map.h"
#include "io/split_size.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read CSV. The names and defaults are those of pandas.read_csv. Files are UTF-8.
struct XSHARDS_EXPORT CsvOptions {
  char sep = ',';
  /// Whether a line of column names comes first; unset: yes, unless `names` are given.
  std::optional<bool> header{};
  std::vector<std::string> names{};
  /// Read only these columns, in the order of the file.
  std::optional<std::vector<std::string>> usecols{};
  /// Types by column name, see TypeFromName; other columns are inferred.
  std::map<std::string, std::string> dtype{};
  /// Columns of times, by name, and the first time of each: all others are written like
  /// it, or the column is text. See TimeText.
  std::map<std::string, std::string> times{};
  std::optional<char> quotechar = '"';  // unset: quotes are ordinary characters
  std::optional<char> escapechar{};
  std::optional<char> comment{};         // ignore the rest of the line from here
  std::vector<std::string> na_values{};  // missing, besides pandas' own list
  bool keep_default_na = true;           // whether that list is missing, too
  bool na_filter = true;                 // unset: nothing is missing
  int64_t skiprows = 0;
  std::optional<int64_t> nrows{};
  SplitSize split{};

  arrow::Status Validate() const;
  bool has_header() const { return header.value_or(names.empty()); }

  OptionMap ToMap() const;
  static arrow::Result<CsvOptions> FromMap(const OptionMap& map);
};

}  // namespace xshards::io
