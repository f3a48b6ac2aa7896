// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "io/options/option_map.h"
#include "xshards/execution/operator_table.h"

namespace xshards::io {

/// The executor of CSV scans. A split runs from the start of a record to the start of
/// another, never at the header.
OpenNode MakeCsvScan();

/// The columns of each file, in its order, kept among a scan's options: once for all
/// files, and again for those whose order differs from the first one's.
void SetFileColumns(const std::string& path, const std::vector<std::string>& columns,
                    OptionMap* options);
arrow::Result<std::vector<std::string>> GetFileColumns(const std::string& path,
                                                       const OptionMap& options);

}  // namespace xshards::io
