// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/write/file_writer.h"
#include "io/writers.h"

namespace xshards::io {

/// JSON lines, one object per row, with every column in every object: missing values, NaN
/// and infinities are null; dates and times are text, durations are ISO 8601 text. No
/// options.
arrow::Result<std::unique_ptr<FileWriter>> OpenJsonWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const NoOptions& /*options*/,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
