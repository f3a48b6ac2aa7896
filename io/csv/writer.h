// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/write/file_writer.h"
#include "io/writers.h"

namespace xshards::io {

/// CSV as pandas.to_csv(index=False) writes it: a header, quotes only where needed, True
/// and False, missing values and NaN empty. Times and durations are written with the
/// digits that one of them needs, in rows that are looked at together, as many as pandas
/// does: 100,000 values. These are held until then, or until they are large, or
/// released: then what came so far decides for them.
arrow::Result<std::unique_ptr<FileWriter>> OpenCsvWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const CsvWriterOptions& options,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
