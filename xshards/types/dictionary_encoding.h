// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"

namespace xshards {

// A column of few distinct values, usually text, may be stored as a dictionary: fewer
// bytes are moved, and functions of a value are computed once per distinct value. This is
// an encoding, internal to the engine. A column of dtype "category" or
// "dictionary[pyarrow]" is different: there the user asked for a dictionary.

/// True for a column that is stored as a dictionary, but whose dtype is that of its
/// values.
XSHARDS_EXPORT bool IsEncoded(const arrow::Field& field);

/// The schema as users see it: encoded columns have the type of their values.
XSHARDS_EXPORT std::shared_ptr<arrow::Schema> DecodedSchema(
    const std::shared_ptr<arrow::Schema>& schema);

/// A batch of DecodedSchema(); the same batch if nothing is encoded.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> DecodeColumns(
    std::shared_ptr<arrow::RecordBatch> batch, arrow::MemoryPool* pool);

/// The values of a dictionary array, row by row.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Array>> DecodeValues(
    const arrow::DictionaryArray& column, arrow::MemoryPool* pool);

}  // namespace xshards
