// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/scalar.h>

#include "io/parquet/file.h"

namespace xshards::io {

/// False if the bloom filter of a column shows that a row group has none of the values.
/// Only for integers and text; true if there is no filter or it is inconclusive.
bool MayHoldAny(const ParquetFile& file, int row_group, int leaf,
                const arrow::ScalarVector& values);

}  // namespace xshards::io
