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

arrow::Status CheckSpecial(const char* name, std::optional<char> c) {
  if (c == '\n' || c == '\r' || c == '\0') {
    return arrow::Status::Invalid(name, " must not be a line end or NUL");
  }
  return arrow::Status::OK();
}

// Characters that are part of numbers would be ambiguous.
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
        "long_sep cannot be combined with quotechar, escapechar, comment, "
        "skipinitialspace, doublequote "
        "and delim_whitespace, got '",
        long_sep, "'");
  }
  if (comment.has_value() && (is_odd || escapechar.has_value())) {
    return arrow::Status::Invalid(
        "comment cannot be combined with escapechar, skipinitialspace, delim_whitespace "
        "and doublequote");
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
    return arrow::Status::Invalid("skip_lines must be in ascending order");
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

}  // namespace xshards::io
