// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/result.h>

namespace xshards::ops {

/// The values of a dictionary- or run-end-encoded column; other columns as they are.
arrow::Result<std::shared_ptr<arrow::Array>> Decode(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool);
/// The type of Decode()'s result.
std::shared_ptr<arrow::DataType> DecodedType(
    const std::shared_ptr<arrow::DataType>& type);

/// Decode, and turn NaN into null, so that code that reads values sees one kind of
/// missing value. Zero copy if nothing changes.
arrow::Result<std::shared_ptr<arrow::Array>> PlainValues(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool);

}  // namespace xshards::ops
