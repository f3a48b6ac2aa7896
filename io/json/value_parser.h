// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xshards::io {

// Reading JSON text by hand. Texts end in kJsonPadding zero bytes, which stop every
// scan and may be read with vector loads. Text is taken to be UTF-8.

constexpr int64_t kJsonPadding = 64;
/// Values nested deeper than this are refused, as they would exhaust the stack.
constexpr int kJsonDepth = 1024;

/// Where a text stops being JSON, and what was expected there.
struct JsonFault {
  const char* at = nullptr;
  const char* expected = nullptr;

  /// Note a fault; always nullptr, so that parsers can return it.
  const char* Set(const char* position, const char* what) {
    at = position;
    expected = what;
    return nullptr;
  }
};

/// Skip what may be between tokens. A line feed is, but not in JSON lines.
[[gnu::always_inline]] inline const char* SkipJsonBlanks(const char* p,
                                                         bool across_lines) {
  while (*p == ' ' || *p == '\t' || *p == '\r' || (across_lines && *p == '\n')) ++p;
  return p;
}

enum class JsonNumber : uint8_t {
  kInt64,
  kUInt64,  // beyond int64
  kHuge,    // an integer beyond 64 bits
  kDouble,
};

/// A number and what it is.
struct JsonNumberValue {
  JsonNumber kind = JsonNumber::kInt64;
  int64_t integer = 0;    // the bits of a kUInt64
  double real = 0;        // of all kinds, correctly rounded
  bool negative = false;  // has a minus
};

/// Read a number, also NaN, Infinity and -Infinity as Python writes them. Returns what
/// follows it; nullptr where there is none.
const char* ReadJsonNumber(const char* p, JsonNumberValue* value, JsonFault* fault);

/// Append what an escape stands for; `p` is at its backslash. Returns what follows it.
const char* ReadJsonEscape(const char* p, std::string* out, JsonFault* fault);

/// Read a string whose opening quote is at `p`, appending what it stands for to `out`.
const char* ReadJsonString(const char* p, std::string* out, JsonFault* fault);

/// Check any value, of `depth` levels at most, that starts at `p`.
const char* SkipJsonValue(const char* p, bool across_lines, int depth, JsonFault* fault);

}  // namespace xshards::io
