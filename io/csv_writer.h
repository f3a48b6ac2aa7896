// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/file_writer.h"

namespace xshards::io {

/// CSV as pandas.to_csv(index=False) writes it: a header, quotes only where needed, True
/// and False, missing values and NaN empty; durations are text before (duration_text.h).
/// Options: `sep` (one byte), `header` (true or false), `na_rep` (text for missing
/// values).
arrow::Result<std::unique_ptr<FileWriter>> OpenCsvWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const OptionMap& options,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
