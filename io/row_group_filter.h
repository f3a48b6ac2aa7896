// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/result.h>

#include "io/parquet_file.h"
#include "xshards/expression.h"

namespace xshards::io {

/// True if a row group's statistics show that no row passes the filter. Only parts of a
/// conjunction that compare a column with a constant (==, <, <=, >, >=) or look it up in
/// a list count: they are false for missing values and NaN, which statistics leave out.
/// False wherever statistics are missing or do not tell.
arrow::Result<bool> CanSkipRowGroup(const ParquetFile& file, int row_group,
                                    const Expression& filter);

}  // namespace xshards::io
