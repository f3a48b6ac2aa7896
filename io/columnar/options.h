// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "io/options/option_map.h"
#include "io/options/split_size.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read Parquet, Arrow IPC and ORC files, which know their own schema.
struct XSHARDS_EXPORT ParquetOptions {
  /// Read only these columns, in this order.
  std::optional<std::vector<std::string>> columns{};
  /// The columns there are, and their types, whatever the files say: values are cast,
  /// columns that a file lacks are missing in it, others are not read. nullptr: as the
  /// files say.
  std::shared_ptr<arrow::Schema> schema{};
  SplitSize split{};

  arrow::Status Validate() const;
  OptionMap ToMap() const;
  static arrow::Result<ParquetOptions> FromMap(const OptionMap& map);
};

using IpcOptions = ParquetOptions;
using OrcOptions = ParquetOptions;

}  // namespace xshards::io
