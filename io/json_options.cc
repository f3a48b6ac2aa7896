// SPDX-License-Identifier: Apache-2.0
#include "io/json_options.h"

#include <utility>

#include "io/type_names.h"

namespace xshards::io {

namespace {

constexpr std::pair<const char*, BadLines> kBadLines[] = {
    {"error", BadLines::kError}, {"warn", BadLines::kWarn}, {"skip", BadLines::kSkip}};

}  // namespace

arrow::Result<BadLines> BadLinesFromName(const std::string& name) {
  for (const auto& [known, value] : kBadLines) {
    if (name == known) return value;
  }
  return arrow::Status::Invalid("on_bad_lines must be 'error', 'warn' or 'skip', got '",
                                name, "'");
}

arrow::Status JsonOptions::Validate() const {
  ARROW_RETURN_NOT_OK(CheckDtype(dtype));
  if (nrows.value_or(0) < 0) {
    return arrow::Status::Invalid("nrows must be 0 or more, got ", *nrows);
  }
  return split.Validate();
}

OptionMap JsonOptions::ToMap() const {
  OptionMap map;
  if (lines.has_value()) map["lines"] = *lines ? "true" : "false";
  for (const auto& [name, value] : kBadLines) {
    const bool is_default = value == BadLines::kError;
    if (value == on_bad_lines && !is_default) map["on_bad_lines"] = name;
  }
  if (!dtype.empty()) map["dtype"] = EncodePairs(dtype);
  if (nrows.has_value()) map["nrows"] = std::to_string(*nrows);
  split.AddTo(&map);
  return map;
}

arrow::Result<JsonOptions> JsonOptions::FromMap(const OptionMap& map) {
  JsonOptions options;
  ARROW_ASSIGN_OR_RAISE(options.lines, GetBool(map, "lines"));
  const auto bad_lines = GetString(map, "on_bad_lines").value_or("error");
  ARROW_ASSIGN_OR_RAISE(options.on_bad_lines, BadLinesFromName(bad_lines));
  ARROW_ASSIGN_OR_RAISE(options.dtype, GetPairs(map, "dtype"));
  ARROW_ASSIGN_OR_RAISE(options.nrows, GetInt(map, "nrows"));
  ARROW_ASSIGN_OR_RAISE(options.split, SplitSize::FromMap(map));
  ARROW_RETURN_NOT_OK(options.Validate());
  return options;
}

}  // namespace xshards::io
