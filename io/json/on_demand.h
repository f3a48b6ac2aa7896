// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/memory_pool.h>

#include "io/json/block_input.h"
#include "io/json/value_parser.h"

namespace xshards::io {

class JsonShape;

/// Reads records with simdjson, one at a time: records are checked completely, including
/// skipped values. `begin` is where a record should start and `end` the end of the text,
/// which kJsonPadding readable bytes follow; in JSON lines only blanks may follow the
/// record on its line. Functions return the position after the record, or nullptr. Used
/// by one thread.
class JsonOnDemand {
 public:
  JsonOnDemand(JsonLayout layout, arrow::MemoryPool* pool);
  ~JsonOnDemand();
  JsonOnDemand(const JsonOnDemand&) = delete;
  JsonOnDemand& operator=(const JsonOnDemand&) = delete;

  /// Check a record; nullptr if it is not a JSON object: then `fault` says why.
  const char* Check(const char* begin, const char* end, JsonFault* fault);

  /// Check a record and add the types of its values to `shape`; part of them if it is not
  /// valid JSON.
  const char* Observe(const char* begin, const char* end, JsonShape* shape,
                      JsonFault* fault);

  /// Unescape a string that has a closing quote, `begin` after its opening one, into
  /// `out`, which has room for its length and kJsonPadding bytes. Returns the end of the
  /// output; nullptr if an escape is invalid.
  char* Unescape(const char* begin, char* out);
  /// Check the escapes of a string, from its opening quote to its closing one.
  bool CheckEscapes(const char* begin, const char* end);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether a text is UTF-8.
bool IsUtf8(const char* begin, const char* end);

}  // namespace xshards::io
