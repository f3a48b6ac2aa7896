// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/result.h>

namespace xshards::ops {

/// The values of a dictionary- or run-end-encoded column; other columns as they are.
arrow::Result<std::shared_ptr<arrow::Array>> Decode(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool);
/// The type that Decode() gives.
std::shared_ptr<arrow::DataType> DecodedType(
    const std::shared_ptr<arrow::DataType>& type);

/// Decode, and turn NaN into null, so that code that looks at values has one kind of
/// missing. Zero copy where there is nothing to change.
arrow::Result<std::shared_ptr<arrow::Array>> PlainValues(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool);

}  // namespace xshards::ops
