// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/write/file_writer.h"

namespace xshards::io {

/// Parquet with the Arrow schema stored. Options: `compression` (snappy, the default,
/// zstd, gzip, brotli, lz4 or none), `row_group_rows` (rows of a row group at most).
arrow::Result<std::unique_ptr<FileWriter>> OpenParquetWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const OptionMap& options,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
