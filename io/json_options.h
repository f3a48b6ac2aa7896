// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/option_map.h"
#include "io/split_size.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read JSON lines: one object a line, UTF-8.
struct XSHARDS_EXPORT JsonOptions {
  /// Types by column name, see TypeFromName; other columns are inferred.
  std::map<std::string, std::string> dtype{};
  std::optional<int64_t> nrows{};
  SplitSize split{};

  arrow::Status Validate() const;
  OptionMap ToMap() const;
  static arrow::Result<JsonOptions> FromMap(const OptionMap& map);
};

}  // namespace xshards::io
