// SPDX-License-Identifier: Apache-2.0
#include "io/json/options.h"

#include "io/options/type_names.h"

namespace xshards::io {

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
  SetBadLines(on_bad_lines, &map);
  if (!dtype.empty()) map["dtype"] = EncodePairs(dtype);
  if (nrows.has_value()) map["nrows"] = std::to_string(*nrows);
  split.AddTo(&map);
  return map;
}

arrow::Result<JsonOptions> JsonOptions::FromMap(const OptionMap& map) {
  JsonOptions options;
  ARROW_ASSIGN_OR_RAISE(options.lines, GetBool(map, "lines"));
  ARROW_ASSIGN_OR_RAISE(options.on_bad_lines, GetBadLines(map));
  ARROW_ASSIGN_OR_RAISE(options.dtype, GetPairs(map, "dtype"));
  ARROW_ASSIGN_OR_RAISE(options.nrows, GetInt(map, "nrows"));
  ARROW_ASSIGN_OR_RAISE(options.split, SplitSize::FromMap(map));
  ARROW_RETURN_NOT_OK(options.Validate());
  return options;
}

}  // namespace xshards::io
