// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/csv/convert/column_converter.h"

namespace xshards::io {

/// A column of large_utf8 or large_binary; see CsvColumn::Make.
std::unique_ptr<CsvColumn> MakeTextColumn(const std::shared_ptr<arrow::DataType>& type,
                                          const CsvValues* values,
                                          arrow::MemoryPool* pool);

}  // namespace xshards::io
