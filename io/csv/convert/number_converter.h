// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/csv/convert/column_converter.h"

namespace xshards::io {

/// A column of int64, uint64 or float64; see CsvColumn::Make.
std::unique_ptr<CsvColumn> MakeNumberColumn(const std::shared_ptr<arrow::DataType>& type,
                                            bool inferred, const CsvValues* values,
                                            arrow::MemoryPool* pool);

}  // namespace xshards::io
