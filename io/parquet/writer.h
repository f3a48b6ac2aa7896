// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/write/file_writer.h"
#include "io/writers.h"

namespace xshards::io {

/// Parquet with the Arrow schema stored.
arrow::Result<std::unique_ptr<FileWriter>> OpenParquetWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file,
    const ParquetWriterOptions& options, arrow::MemoryPool* pool);

}  // namespace xshards::io
