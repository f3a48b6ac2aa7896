// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/write/file_writer.h"
#include "io/writers.h"

namespace xshards::io {

/// The Arrow IPC file format (Feather V2).
arrow::Result<std::unique_ptr<FileWriter>> OpenIpcWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const IpcWriterOptions& options,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
