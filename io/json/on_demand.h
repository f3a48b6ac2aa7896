// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/memory_pool.h>

#include "io/json/block_input.h"
#include "io/json/value_parser.h"

namespace xshards::io {

class JsonShape;

/// Reads records with simdjson, one at a time: all of a record is checked, also values
/// that are skipped. `begin` is where a record should start and `end` the end of the
/// text, which kJsonPadding readable bytes follow; of JSON lines nothing but blanks may
/// follow the record on its line. Functions return what follows the record, or nullptr.
/// Belongs to one thread.
class JsonOnDemand {
 public:
  JsonOnDemand(JsonLayout layout, arrow::MemoryPool* pool);
  ~JsonOnDemand();
  JsonOnDemand(const JsonOnDemand&) = delete;
  JsonOnDemand& operator=(const JsonOnDemand&) = delete;

  /// Check a record; nullptr where it is no JSON object, which `fault` describes then.
  const char* Check(const char* begin, const char* end, JsonFault* fault);

  /// Check a record and add the types of its values to `shape`, of which a part is added
  /// where it is no JSON.
  const char* Observe(const char* begin, const char* end, JsonShape* shape,
                      JsonFault* fault);

  /// Unescape a string that has a closing quote, `begin` after its opening one, into
  /// `out`, which has room for its length and kJsonPadding bytes. Returns the end of what
  /// was written; nullptr where an escape is wrong.
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
