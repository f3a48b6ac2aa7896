// SPDX-License-Identifier: Apache-2.0
#include "io/json/record_boundaries.h"

#include <algorithm>
#include <cstring>

#include "io/text/parse_error.h"
#include "io/text/text_input.h"

namespace xshards::io {
const char* WholeCharactersEnd(const char* begin, const char* end) {
  const char* p = end;
  while (p > begin && end - p < 3 && (p[-1] & 0xC0) == 0x80) --p;
  return p > begin && (p[-1] & 0xC0) == 0xC0 ? p - 1 : end;
}

const char* JsonLineEnd(const char* p, const char* end) {
  const void* found = std::memchr(p, '\n', static_cast<size_t>(end - p));
  return found == nullptr ? end : static_cast<const char*>(found) + 1;
}

std::string ShortenJson(std::string_view text) {
  constexpr size_t kShown = 200;
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() <= kShown) return std::string(text);
  std::string shown(text.substr(0, kShown));
  return shown.append("...");
}

std::string JsonPlace(const std::string& path, int64_t position,
                      arrow::MemoryPool* pool) {
  const auto line = LineNumber(path, {}, {.begin = position}, pool);
  return "'" + path + "'" + (line.ok() ? ", line " + std::to_string(*line) : "");
}

arrow::Status NotJson(const std::string& path, const JsonInput::Block& block,
                      const char* record, const JsonFault& fault,
                      arrow::MemoryPool* pool) {
  constexpr int64_t kShown = 20;
  const char* const end = block.text + block.size;
  const bool is_here = fault.at >= record && fault.at < end && *fault.at > ' ';
  std::string found = "the end of it";
  if (is_here) {
    const auto size = static_cast<size_t>(std::min(kShown, end - fault.at));
    found = ShortenJson(std::string_view(fault.at, size));
  }
  const char* const line_end = JsonLineEnd(record, end);
  const std::string_view line(record, static_cast<size_t>(line_end - record));
  const std::string message =
      "Could not read " + JsonPlace(path, block.position + (record - block.text), pool) +
      ": Expected " + fault.expected + ", got " + found + " (character " +
      std::to_string(fault.at - record + 1) + "). The line: " + ShortenJson(line);
  if (std::string_view(fault.expected) == kUtf8) {
    return Undecodable(message, "utf-8", std::string(line));
  }
  return arrow::Status::Invalid(message);
}

}  // namespace xshards::io
