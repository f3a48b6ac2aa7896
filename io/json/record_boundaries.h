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

// Records and the lines they stand on, apart from the columns they become.

/// A fault shows at most so many bytes before the place where a text is cut.
inline constexpr int64_t kLongestJsonToken = 16;

/// What a fault expects where a text is not that.
inline constexpr char kUtf8[] = "UTF-8";
/// Where a text ends without a character that is cut in two.
const char* WholeCharactersEnd(const char* begin, const char* end);

/// What follows a line.
const char* JsonLineEnd(const char* p, const char* end);

/// A text as messages show it.
std::string ShortenJson(std::string_view text);
/// The file and the line of a position in its text, as messages name them.
std::string JsonPlace(const std::string& path, int64_t position, arrow::MemoryPool* pool);
/// The error for a record that is no JSON.
arrow::Status NotJson(const std::string& path, const JsonInput::Block& block,
                      const char* record, const JsonFault& fault,
                      arrow::MemoryPool* pool);

}  // namespace xshards::io
