// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/option_map.h"
#include "io/split_size.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read Parquet and Arrow IPC files, which know their own schema.
struct XSHARDS_EXPORT ParquetOptions {
  /// Read only these columns, in this order.
  std::optional<std::vector<std::string>> columns{};
  SplitSize split{};

  arrow::Status Validate() const;
  OptionMap ToMap() const;
  static arrow::Result<ParquetOptions> FromMap(const OptionMap& map);
};

using IpcOptions = ParquetOptions;

}  // namespace xshards::io
