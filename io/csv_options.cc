// SPDX-License-Identifier: Apache-2.0
#include "io/csv_options.h"

#include <algorithm>
#include <set>

#include "io/csv_times.h"
#include "io/type_names.h"

namespace xshards::io {
namespace {

std::string Text(char c) { return std::string(1, c); }
const char* Text(bool value) { return value ? "true" : "false"; }

arrow::Status CheckSpecial(const char* name, std::optional<char> c) {
  if (c == '\n' || c == '\r' || c == '\0') {
    return arrow::Status::Invalid(name, " must not be a line end or NUL");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status CsvOptions::Validate() const {
  ARROW_RETURN_NOT_OK(CheckSpecial("sep", sep));
  ARROW_RETURN_NOT_OK(CheckSpecial("quotechar", quotechar));
  ARROW_RETURN_NOT_OK(CheckSpecial("escapechar", escapechar));
  ARROW_RETURN_NOT_OK(CheckSpecial("comment", comment));
  std::set<char> special;
  for (const std::optional<char> c :
       {std::optional<char>(sep), quotechar, escapechar, comment}) {
    if (encoding != TextEncoding::kUtf8 && static_cast<uint8_t>(c.value_or('\0')) > 127) {
      return arrow::Status::Invalid(
          "sep, quotechar, escapechar and comment must be ASCII in ", NameOf(encoding));
    }
    if (c.has_value() && !special.insert(*c).second) {
      return arrow::Status::Invalid(
          "sep, quotechar, escapechar and comment must differ, got '", Text(*c),
          "' twice");
    }
  }
  if (skiprows < 0) {
    return arrow::Status::Invalid("skiprows must be 0 or more, got ", skiprows);
  }
  if (header_row < 0) {
    return arrow::Status::Invalid("header_row must be 0 or more, got ", header_row);
  }
  if (skipfooter < 0) {
    return arrow::Status::Invalid("skipfooter must be 0 or more, got ", skipfooter);
  }
  if (!std::is_sorted(skip_lines.begin(), skip_lines.end())) {
    return arrow::Status::Invalid("skip_lines must be ascending");
  }
  if (nrows.value_or(0) < 0) {
    return arrow::Status::Invalid("nrows must be 0 or more, got ", *nrows);
  }
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (!seen.insert(name).second) {
      return arrow::Status::Invalid("names must differ, got '", name, "' twice");
    }
  }
  for (const auto& [name, first] : times) {
    if (!TimeText::Like(first).has_value()) {
      return arrow::Status::Invalid(
          "Expected a time as 2024-01-31 12:00:00 as the first "
          "of column '",
          name, "', got '", first, "'");
    }
  }
  ARROW_RETURN_NOT_OK(CheckDtype(dtype));
  return split.Validate();
}

OptionMap CsvOptions::ToMap() const {
  OptionMap map{{"sep", Text(sep)}};
  if (header.has_value()) map["header"] = Text(*header);
  if (!names.empty()) map["names"] = EncodeList(names);
  if (usecols.has_value()) map["usecols"] = EncodeList(*usecols);
  if (!dtype.empty()) map["dtype"] = EncodePairs(dtype);
  if (!times.empty()) map["times"] = EncodePairs(times);
  // An empty quotechar says that there is none: the default is to have one.
  map["quotechar"] = quotechar.has_value() ? Text(*quotechar) : "";
  if (escapechar.has_value()) map["escapechar"] = Text(*escapechar);
  if (comment.has_value()) map["comment"] = Text(*comment);
  if (!na_values.empty()) map["na_values"] = EncodeList(na_values);
  if (!keep_default_na) map["keep_default_na"] = Text(keep_default_na);
  if (!na_filter) map["na_filter"] = Text(na_filter);
  if (header_row != 0) map["header_row"] = std::to_string(header_row);
  if (skiprows != 0) map["skiprows"] = std::to_string(skiprows);
  if (skipfooter != 0) map["skipfooter"] = std::to_string(skipfooter);
  if (!skip_lines.empty()) map["skip_lines"] = EncodeNumbers(skip_lines);
  if (!skip_blank_lines) map["skip_blank_lines"] = Text(skip_blank_lines);
  SetBadLines(on_bad_lines, &map);
  if (encoding != TextEncoding::kUtf8) map["encoding"] = NameOf(encoding);
  if (compression.has_value()) map["compression"] = NameOf(*compression);
  if (nrows.has_value()) map["nrows"] = std::to_string(*nrows);
  split.AddTo(&map);
  return map;
}

arrow::Result<CsvOptions> CsvOptions::FromMap(const OptionMap& map) {
  CsvOptions options;
  ARROW_ASSIGN_OR_RAISE(const auto sep, GetChar(map, "sep"));
  options.sep = sep.value_or(options.sep);
  ARROW_ASSIGN_OR_RAISE(options.header, GetBool(map, "header"));
  ARROW_ASSIGN_OR_RAISE(const auto names, GetList(map, "names"));
  options.names = names.value_or(options.names);
  ARROW_ASSIGN_OR_RAISE(options.usecols, GetList(map, "usecols"));
  ARROW_ASSIGN_OR_RAISE(options.dtype, GetPairs(map, "dtype"));
  ARROW_ASSIGN_OR_RAISE(options.times, GetPairs(map, "times"));
  if (GetString(map, "quotechar") == "") {
    options.quotechar = std::nullopt;
  } else {
    ARROW_ASSIGN_OR_RAISE(const auto quotechar, GetChar(map, "quotechar"));
    if (quotechar.has_value()) options.quotechar = quotechar;
  }
  ARROW_ASSIGN_OR_RAISE(options.escapechar, GetChar(map, "escapechar"));
  ARROW_ASSIGN_OR_RAISE(options.comment, GetChar(map, "comment"));
  ARROW_ASSIGN_OR_RAISE(const auto na_values, GetList(map, "na_values"));
  options.na_values = na_values.value_or(options.na_values);
  ARROW_ASSIGN_OR_RAISE(const auto keep_default_na, GetBool(map, "keep_default_na"));
  options.keep_default_na = keep_default_na.value_or(true);
  ARROW_ASSIGN_OR_RAISE(const auto na_filter, GetBool(map, "na_filter"));
  options.na_filter = na_filter.value_or(true);
  ARROW_ASSIGN_OR_RAISE(const auto skiprows, GetInt(map, "skiprows"));
  options.skiprows = skiprows.value_or(0);
  ARROW_ASSIGN_OR_RAISE(const auto header_row, GetInt(map, "header_row"));
  options.header_row = header_row.value_or(0);
  ARROW_ASSIGN_OR_RAISE(const auto skipfooter, GetInt(map, "skipfooter"));
  options.skipfooter = skipfooter.value_or(0);
  ARROW_ASSIGN_OR_RAISE(options.skip_lines, GetNumbers(map, "skip_lines"));
  ARROW_ASSIGN_OR_RAISE(const auto skip_blank_lines, GetBool(map, "skip_blank_lines"));
  options.skip_blank_lines = skip_blank_lines.value_or(true);
  ARROW_ASSIGN_OR_RAISE(options.on_bad_lines, GetBadLines(map));
  if (const auto encoding = GetString(map, "encoding")) {
    ARROW_ASSIGN_OR_RAISE(options.encoding, TextEncodingFromName(*encoding));
  }
  if (const auto compression = GetString(map, "compression")) {
    ARROW_ASSIGN_OR_RAISE(options.compression, TextCompressionFromName(*compression));
  }
  ARROW_ASSIGN_OR_RAISE(options.nrows, GetInt(map, "nrows"));
  ARROW_ASSIGN_OR_RAISE(options.split, SplitSize::FromMap(map));
  ARROW_RETURN_NOT_OK(options.Validate());
  return options;
}

}  // namespace xshards::io
