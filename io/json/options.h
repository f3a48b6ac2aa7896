// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <arrow/status.h>

#include "io/options/split_size.h"
#include "io/text/bad_lines.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read JSON records, UTF-8.
struct XSHARDS_EXPORT JsonOptions {
  /// One object per line; false: each file is an array of objects. Detected by default.
  std::optional<bool> lines{};
  /// Types by column name, see TypeFromName; other columns are inferred.
  std::map<std::string, std::string> dtype{};
  BadLines on_bad_lines = BadLines::kError;
  std::optional<int64_t> nrows{};
  SplitSize split{};

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("lines", options.lines);
    visit("dtype", options.dtype);
    visit("on_bad_lines", options.on_bad_lines);
    visit("nrows", options.nrows);
    SplitSize::VisitMembers(options.split, visit);
  }
};

}  // namespace xshards::io
