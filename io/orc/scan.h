// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::io {

/// The executor of ORC scans. A split is a range of stripes.
OpenNode MakeOrcScan();

/// Open an ORC file for reading on one thread. The error names the file.
arrow::Result<std::shared_ptr<arrow::adapters::orc::ORCFileReader>> OpenOrcFile(
    const std::string& path, arrow::MemoryPool* pool);

}  // namespace xshards::io
