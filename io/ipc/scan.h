// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::io {

/// The executor of Arrow IPC scans. A split is a range of record batches.
OpenNode MakeIpcScan();

/// Open an Arrow IPC file for reading on one thread. What it reads is not validated. The
/// error names the file.
arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenIpcFile(
    const std::string& path, arrow::MemoryPool* pool);

}  // namespace xshards::io
