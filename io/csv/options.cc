// SPDX-License-Identifier: Apache-2.0
#include "io/csv/options.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "io/csv/parse/time_format.h"
#include "io/options/type_names.h"

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

// What is part of numbers anyway would leave open what it means.
arrow::Status CheckNumberMarks(char decimal, std::optional<char> thousands) {
  constexpr std::string_view kOfNumbers = "0123456789eE+-";
  for (const std::optional<char> c : {std::optional<char>(decimal), thousands}) {
    ARROW_RETURN_NOT_OK(CheckSpecial("decimal and thousands", c));
    if (c.has_value() && kOfNumbers.find(*c) != std::string_view::npos) {
      return arrow::Status::Invalid(
          "decimal and thousands must not be digits, signs or 'e', got '", Text(*c), "'");
    }
  }
  if (thousands == decimal) {
    return arrow::Status::Invalid("decimal and thousands must differ, got '",
                                  Text(decimal), "' twice");
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
  if (long_sep.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    return arrow::Status::Invalid("long_sep must not have line ends or NUL in it");
  }
  const bool is_odd = skipinitialspace || delim_whitespace || !doublequote;
  if (!long_sep.empty() && (quotechar.has_value() || escapechar.has_value() ||
                            comment.has_value() || is_odd)) {
    return arrow::Status::Invalid(
        "long_sep knows no quotechar, escapechar, comment, skipinitialspace, doublequote "
        "and delim_whitespace, got '",
        long_sep, "'");
  }
  if (comment.has_value() && (is_odd || escapechar.has_value())) {
    return arrow::Status::Invalid(
        "comment does not go with escapechar, skipinitialspace, delim_whitespace and "
        "doublequote");
  }
  ARROW_RETURN_NOT_OK(CheckNumberMarks(decimal, thousands));
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
  for (const auto& [name, format] : times) {
    if (!TimeFormat::Make(format).has_value()) {
      return arrow::Status::Invalid(
          "Expected a format of times such as '%Y-%m-%d %H:%M' for column '", name,
          "', got '", format, "'");
    }
  }
  ARROW_RETURN_NOT_OK(CheckDtype(dtype));
  return split.Validate();
}

OptionMap CsvOptions::ToMap() const {
  OptionMap map{{"sep", Text(sep)}};
  if (!long_sep.empty()) map["long_sep"] = long_sep;
  if (delim_whitespace) map["delim_whitespace"] = Text(delim_whitespace);
  if (skipinitialspace) map["skipinitialspace"] = Text(skipinitialspace);
  if (!doublequote) map["doublequote"] = Text(doublequote);
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
  if (!column_na_values.empty()) {
    std::map<std::string, std::string> encoded;
    for (const auto& [name, values] : column_na_values) {
      encoded[name] = EncodeList(values);
    }
    map["column_na_values"] = EncodePairs(encoded);
  }
  if (!true_values.empty()) map["true_values"] = EncodeList(true_values);
  if (!false_values.empty()) map["false_values"] = EncodeList(false_values);
  if (decimal != '.') map["decimal"] = Text(decimal);
  if (thousands.has_value()) map["thousands"] = Text(*thousands);
  if (numbers_are_floats) map["numbers_are_floats"] = Text(numbers_are_floats);
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
  options.long_sep = GetString(map, "long_sep").value_or("");
  ARROW_ASSIGN_OR_RAISE(const auto whitespace, GetBool(map, "delim_whitespace"));
  options.delim_whitespace = whitespace.value_or(false);
  ARROW_ASSIGN_OR_RAISE(const auto skips_blanks, GetBool(map, "skipinitialspace"));
  options.skipinitialspace = skips_blanks.value_or(false);
  ARROW_ASSIGN_OR_RAISE(const auto doublequote, GetBool(map, "doublequote"));
  options.doublequote = doublequote.value_or(true);
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
  ARROW_ASSIGN_OR_RAISE(const auto by_column, GetPairs(map, "column_na_values"));
  for (const auto& [name, encoded] : by_column) {
    ARROW_ASSIGN_OR_RAISE(options.column_na_values[name], DecodeList(encoded));
  }
  ARROW_ASSIGN_OR_RAISE(const auto true_values, GetList(map, "true_values"));
  options.true_values = true_values.value_or(options.true_values);
  ARROW_ASSIGN_OR_RAISE(const auto false_values, GetList(map, "false_values"));
  options.false_values = false_values.value_or(options.false_values);
  ARROW_ASSIGN_OR_RAISE(const auto decimal, GetChar(map, "decimal"));
  options.decimal = decimal.value_or(options.decimal);
  ARROW_ASSIGN_OR_RAISE(options.thousands, GetChar(map, "thousands"));
  ARROW_ASSIGN_OR_RAISE(const auto are_floats, GetBool(map, "numbers_are_floats"));
  options.numbers_are_floats = are_floats.value_or(false);
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
