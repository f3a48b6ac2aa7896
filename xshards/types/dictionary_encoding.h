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

// A column of few distinct values, text mostly, may be held as a dictionary: less is
// moved, and what is asked of values is asked once of each. That is an encoding, which
// the engine alone sees. A column of dtype "category" or "dictionary[pyarrow]" is another
// thing: there people asked for a dictionary.

/// True for a column that is held as a dictionary, but is not one to people.
XSHARDS_EXPORT bool IsEncoded(const arrow::Field& field);

/// The schema as people see it: encoded columns have the type of their values.
XSHARDS_EXPORT std::shared_ptr<arrow::Schema> DecodedSchema(
    const std::shared_ptr<arrow::Schema>& schema);

/// A batch of DecodedSchema(); the same batch if nothing is encoded.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> DecodeColumns(
    std::shared_ptr<arrow::RecordBatch> batch, arrow::MemoryPool* pool);

/// The values of a dictionary array, row by row.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Array>> DecodeValues(
    const arrow::DictionaryArray& column, arrow::MemoryPool* pool);

}  // namespace xshards
