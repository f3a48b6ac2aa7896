// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/export.h"

namespace xshards::io {

/// How pandas' DataFrame.to_json(orient=...) lays out a frame, other than as records.
enum class JsonOrient : uint8_t {
  kColumns,  // {column: {row: value}}, or {column: [value]}
  kIndex,    // {row: {column: value}}, or {row: [value]}
  kSplit,    // {"columns": [...], "index": [...], "data": [[value]]}
  kTable,    // {"schema": {...}, "data": [{column: value}]}
  kValues,   // [[value]], or [{column: value}]; all that kColumns is
};

/// The orient that pandas calls by a name; Invalid if there is none.
XSHARDS_EXPORT arrow::Result<JsonOrient> JsonOrientFromName(std::string_view name);

/// What a document holds.
struct JsonDocument {
  /// Types are those of JSON records, see JsonCells::Finish(): values without one are
  /// JSON text, in which null is an absent value and the text null a null. Columns are
  /// named by their keys, or by numbers if rows are arrays.
  std::shared_ptr<arrow::RecordBatch> rows;
  bool has_keys = false;
  /// One column: the keys of rows, or "index" of kSplit; nullptr if rows have no labels.
  std::shared_ptr<arrow::RecordBatch> index;
  /// The JSON of "columns" of kSplit and of "schema" of kTable.
  std::string header;
};

/// Read a file that is one document, all of it at once; compressed by its name. nullopt
/// if it is JSON that no frame with rows and columns is written as, such as scalars among
/// rows, columns of different lengths, repeated keys and unpaired surrogates. Invalid
/// names the file, the line and the fault of a text that is not JSON. At most 4 GB.
XSHARDS_EXPORT arrow::Result<std::optional<JsonDocument>> ReadJsonDocument(
    const std::string& path, JsonOrient orient, arrow::MemoryPool* pool,
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// The same for a text, which kJsonPadding readable bytes follow.
arrow::Result<std::optional<JsonDocument>> ParseJsonDocument(std::string_view text,
                                                             const std::string& path,
                                                             JsonOrient orient,
                                                             arrow::MemoryPool* pool);

}  // namespace xshards::io
