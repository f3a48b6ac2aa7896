// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include "io/json/block_input.h"
#include "io/json/value_parser.h"

namespace xshards::io {

// Records and their lines, independent of columns.

/// An error shows at most this many bytes before the place where a text is shortened.
inline constexpr int64_t kLongestJsonToken = 16;

/// The expectation that errors name for a text that is not UTF-8.
inline constexpr char kUtf8[] = "UTF-8";
/// The end of a text without a truncated last character.
const char* WholeCharactersEnd(const char* begin, const char* end);

/// Tracks, character by character, which parts of a JSON text are inside strings.
class JsonQuotes {
 public:
  /// Whether the next character is part of a string, its quotes included.
  bool Contain(char c) {
    if (!in_string_) {
      in_string_ = c == '"';
      return in_string_;
    }
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return true;
  }

 private:
  bool in_string_ = false;
  bool is_escaped_ = false;
};

/// What follows a line.
const char* JsonLineEnd(const char* p, const char* end);

/// A text shortened for messages.
std::string ShortenJson(std::string_view text);
/// The file and the line of a position in its text, as messages name them.
std::string JsonPlace(const std::string& path, int64_t position, arrow::MemoryPool* pool);
/// The error for a record that is not valid JSON.
arrow::Status NotJson(const std::string& path, const JsonInput::Block& block,
                      const char* record, const JsonFault& fault,
                      arrow::MemoryPool* pool);

}  // namespace xshards::io
