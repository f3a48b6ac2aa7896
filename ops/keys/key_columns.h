// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace xshards::ops {

/// The positions of columns. KeyError names one that is missing or ambiguous, and lists
/// all columns.
arrow::Result<std::vector<int>> FindColumns(const arrow::Schema& schema,
                                            const std::vector<std::string>& names);

/// Convert a column to a type that VisitKeyValues reads: dictionaries and run-end
/// encodings are decoded; structs, lists and maps become the bytes of their encoding, so
/// that they are equal exactly if their values are. Zero copy for plain types.
/// NotImplemented names a type that cannot be a key.
arrow::Result<std::shared_ptr<arrow::Array>> KeyColumn(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool);

/// KeyColumn of several columns of a batch, for a KeyTable: a dictionary whose values
/// need no conversion stays a dictionary.
arrow::Result<arrow::ArrayVector> KeyColumns(const arrow::RecordBatch& batch,
                                             const std::vector<int>& positions,
                                             arrow::MemoryPool* pool);

}  // namespace xshards::ops
