// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace xshards::ops {

/// The bytes of a value that can be copied as a number, or 0 for other types.
int PlainWidth(const arrow::DataType& type);

/// Row numbers as an array; a negative number means a row of nulls.
arrow::Result<std::shared_ptr<arrow::Array>> RowsOrNull(std::vector<int64_t> rows,
                                                        arrow::MemoryPool* pool);

/// The values at the given rows, in the given order; null where the row number is null.
/// Row numbers are not checked.
arrow::Result<std::shared_ptr<arrow::Array>> Gather(
    const std::shared_ptr<arrow::Array>& values,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool);
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Gather(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool);

}  // namespace xshards::ops
