// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace xshards::io {

class JsonOnDemand;

// Parsers of single values for the record loop. Texts end in kJsonPadding zero bytes,
// which stop every scan and may be read with vector loads. Text is assumed to be UTF-8.

constexpr int64_t kJsonPadding = 64;
/// Values nested deeper than this are rejected, since they would exhaust the stack.
constexpr int kJsonDepth = 1024;

/// Where a text stops being JSON, and what was expected there.
struct JsonFault {
  const char* at = nullptr;
  const char* expected = nullptr;

  /// Record a fault; always returns nullptr, so that parsers can return it.
  const char* Set(const char* position, const char* what) {
    at = position;
    expected = what;
    return nullptr;
  }
};

/// Skip white space between tokens; line feeds only outside JSON lines.
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

/// A number and its kind.
struct JsonNumberValue {
  JsonNumber kind = JsonNumber::kInt64;
  int64_t integer = 0;    // the bits of a kUInt64
  double real = 0;        // of all kinds, correctly rounded
  bool negative = false;  // has a minus
};

/// Read a number, also NaN, Infinity and -Infinity as Python writes them. Returns the
/// position after it; nullptr if there is none.
const char* ReadJsonNumber(const char* p, JsonNumberValue* value, JsonFault* fault);

/// Find the closing quote of a string whose opening quote is at `p`, without checking its
/// escapes; nullptr if there is none.
const char* FindJsonStringEnd(const char* p, bool* has_escape, JsonFault* fault);

/// Find the end of an object or array by its brackets only: its contents may be invalid
/// JSON. Returns the position after it; nullptr if it does not end before `end`.
const char* FindJsonValueEnd(const char* p, const char* end);

/// The expectation that errors name for an invalid escape.
inline constexpr char kJsonEscapes[] = "JSON escapes after '\\', surrogates in pairs";

/// Check any value, of `depth` levels at most, that starts at `p`: for the record loop,
/// which skips values of short tokens faster than simdjson would index them.
const char* SkipJsonValue(const char* p, bool across_lines, int depth,
                          JsonOnDemand& on_demand, JsonFault* fault);

}  // namespace xshards::io
