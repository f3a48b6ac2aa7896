// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/result.h>
#include <arrow/type.h>

#include "io/parquet/file.h"
#include "io/parquet/row_ranges.h"
#include "io/scan/range_pruning.h"
#include "xshards/expression/expression.h"

namespace xshards::io {

/// True if the statistics and bloom filters of a row group show that no row passes the
/// filter. False if these are missing or inconclusive. `schema` has the types that the
/// filter sees: statistics of columns that are cast to another kind of type are not used.
arrow::Result<bool> CanSkipRowGroup(const ParquetFile& file, int row_group,
                                    const Expression& filter,
                                    const arrow::Schema& schema);

/// The rows of a row group that may pass the filter, by the statistics of pages (the page
/// index): all if the file has none.
RowRanges RowsThatMayPass(const ParquetFile& file, int row_group,
                          const Expression& filter, const arrow::Schema& schema);

}  // namespace xshards::io
