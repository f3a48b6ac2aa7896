// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "xshards/execution/operator_table.h"

namespace xshards::io {

/// The executor of Arrow IPC scans. A split is a range of record batches.
OpenNode MakeIpcScan();

/// Open an Arrow IPC file for reading on one thread. Only the columns with these indices
/// are read; all where there are none. The bytes read are added to `bytes_read`, which
/// outlives the reader. The error names the file.
arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenIpcFile(
    const std::string& path, std::vector<int> columns, int64_t* bytes_read,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
