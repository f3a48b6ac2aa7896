// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

namespace xshards::io {

/// What to do with a key that the schema does not have.
enum class UnknownKeys : uint8_t { kError, kIgnore, kInfer };

/// Convert whole lines of JSON, on the calling thread. Keys of the schema that an object
/// lacks are missing values. `schema` nullptr means that nothing is known.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ParseJson(
    const std::shared_ptr<arrow::Buffer>& lines,
    const std::shared_ptr<arrow::Schema>& schema, UnknownKeys unknown,
    arrow::MemoryPool* pool);

/// Lines that did not parse, and where they come from.
struct JsonFailure {
  std::shared_ptr<arrow::Buffer> lines;
  std::shared_ptr<arrow::Schema> schema;
  UnknownKeys unknown = UnknownKeys::kError;
  std::string path;
  int64_t position = 0;  // of `lines` in the file's text
};

/// Say which line, key and value did not fit, and what to do about it.
arrow::Status ExplainJson(const JsonFailure& failure, const arrow::Status& status,
                          arrow::MemoryPool* pool);

}  // namespace xshards::io
