// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/status.h>
#include <arrow/type.h>

#include "io/options/split_size.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read Parquet, Arrow IPC and ORC files, which contain their schema.
struct XSHARDS_EXPORT ParquetOptions {
  /// Read only these columns, in this order.
  std::optional<std::vector<std::string>> columns{};
  /// The columns to read and their types: values are cast, columns that a file lacks are
  /// null, other columns of the files are not read. nullptr: the schema of the files.
  std::shared_ptr<arrow::Schema> schema{};
  SplitSize split{};

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("columns", options.columns);
    visit("schema", options.schema);
    SplitSize::VisitMembers(options.split, visit);
  }
};

using IpcOptions = ParquetOptions;
using OrcOptions = ParquetOptions;

}  // namespace xshards::io
