// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/options/option_map.h"
#include "io/options/split_size.h"
#include "io/text/bad_lines.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read JSON records, UTF-8.
struct XSHARDS_EXPORT JsonOptions {
  /// One object a line; false: each file is an array of objects. Looked for in the files
  /// by default.
  std::optional<bool> lines{};
  /// Types by column name, see TypeFromName; other columns are inferred.
  std::map<std::string, std::string> dtype{};
  BadLines on_bad_lines = BadLines::kError;
  std::optional<int64_t> nrows{};
  SplitSize split{};

  arrow::Status Validate() const;
  OptionMap ToMap() const;
  static arrow::Result<JsonOptions> FromMap(const OptionMap& map);
};

}  // namespace xshards::io
