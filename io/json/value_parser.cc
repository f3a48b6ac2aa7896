// SPDX-License-Identifier: Apache-2.0
#include "io/json/value_parser.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "io/json/on_demand.h"

namespace xshards::io {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

const char* SkipDigits(const char* p) {
  while (IsDigit(*p)) ++p;
  return p;
}

bool StartsWith(const char* p, std::string_view word) {
  return std::strncmp(p, word.data(), word.size()) == 0;
}

const char* ReadSpecial(const char* p, bool negative, JsonNumberValue* value,
                        JsonFault* fault) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  value->kind = JsonNumber::kDouble;
  if (StartsWith(p, "Infinity")) {
    value->real = negative ? -kInfinity : kInfinity;
    return p + 8;
  }
  if (!negative && StartsWith(p, "NaN")) {
    value->real = std::numeric_limits<double>::quiet_NaN();
    return p + 3;
  }
  return fault->Set(p, negative ? "a digit" : "a value");
}

double ToDouble(const char* begin, const char* end, bool negative) {
  double value = 0;
  const auto read = std::from_chars(begin, end, value);
  if (read.ec != std::errc::result_out_of_range) return value;
  // Too large or too small, by the sign of the decimal exponent.
  const char* exponent =
      static_cast<const char*>(std::memchr(begin, 'e', static_cast<size_t>(end - begin)));
  if (exponent == nullptr) {
    exponent = static_cast<const char*>(
        std::memchr(begin, 'E', static_cast<size_t>(end - begin)));
  }
  const bool small =
      exponent == nullptr ? *(negative ? begin + 1 : begin) == '0' : exponent[1] == '-';
  const double size = small ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -size : size;
}

void ReadInteger(const char* begin, const char* end, JsonNumberValue* value) {
  if (std::from_chars(begin, end, value->integer).ec == std::errc()) {
    value->kind = JsonNumber::kInt64;
    value->real = static_cast<double>(value->integer);
    return;
  }
  uint64_t bits = 0;
  const bool fits = std::from_chars(begin, end, bits).ec == std::errc();
  value->kind = fits ? JsonNumber::kUInt64 : JsonNumber::kHuge;
  value->integer = static_cast<int64_t>(bits);
  value->real = ToDouble(begin, end, value->negative);
}

const char* SkipString(const char* p, JsonOnDemand& on_demand, JsonFault* fault) {
  bool has_escape = false;
  const char* const quote = FindJsonStringEnd(p, &has_escape, fault);
  if (quote == nullptr) return nullptr;
  if (has_escape && !on_demand.CheckEscapes(p + 1, quote)) {
    return fault->Set(p, kJsonEscapes);
  }
  return quote + 1;
}

// The rest of an array or object after its bracket.
const char* SkipMembers(const char* p, bool is_object, bool across_lines, int depth,
                        JsonOnDemand& on_demand, JsonFault* fault) {
  const char close = is_object ? '}' : ']';
  p = SkipJsonBlanks(p, across_lines);
  if (*p == close) return p + 1;
  while (true) {
    if (is_object) {
      if (*p != '"') return fault->Set(p, "a key in quotes");
      p = SkipString(p, on_demand, fault);
      if (p == nullptr) return nullptr;
      p = SkipJsonBlanks(p, across_lines);
      if (*p != ':') return fault->Set(p, "':'");
      p = SkipJsonBlanks(p + 1, across_lines);
    }
    p = SkipJsonValue(p, across_lines, depth, on_demand, fault);
    if (p == nullptr) return nullptr;
    p = SkipJsonBlanks(p, across_lines);
    if (*p == close) return p + 1;
    if (*p != ',') return fault->Set(p, is_object ? "',' or '}'" : "',' or ']'");
    p = SkipJsonBlanks(p + 1, across_lines);
  }
}

}  // namespace

const char* ReadJsonNumber(const char* p, JsonNumberValue* value, JsonFault* fault) {
  const char* const begin = p;
  value->negative = *p == '-';
  if (value->negative) ++p;
  if (!IsDigit(*p)) return ReadSpecial(p, value->negative, value, fault);
  if (*p == '0' && IsDigit(p[1])) return fault->Set(p, "a number without leading zeros");
  p = SkipDigits(p);
  bool is_integer = true;
  if (*p == '.') {
    is_integer = false;
    if (!IsDigit(*++p)) return fault->Set(p, "a digit after the point");
    p = SkipDigits(p);
  }
  if (*p == 'e' || *p == 'E') {
    is_integer = false;
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!IsDigit(*p)) return fault->Set(p, "a digit in the exponent");
    p = SkipDigits(p);
  }
  if (is_integer) {
    ReadInteger(begin, p, value);
  } else {
    value->kind = JsonNumber::kDouble;
    value->real = ToDouble(begin, p, value->negative);
  }
  return p;
}

const char* FindJsonStringEnd(const char* p, bool* has_escape, JsonFault* fault) {
  *has_escape = false;
  for (++p; *p != '"'; ++p) {
    if (*p == '\\') {
      *has_escape = true;
      ++p;
    }
    if (static_cast<unsigned char>(*p) < 0x20) {
      return fault->Set(p, "a closing quote (control characters must be escaped)");
    }
  }
  return p;
}

const char* FindJsonValueEnd(const char* p, const char* end) {
  int64_t depth = 0;
  for (; p < end; ++p) {
    switch (*p) {
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth <= 0) return p + 1;
        break;
      case '"':
        for (++p; p < end && *p != '"'; ++p) {
          if (*p == '\\') ++p;
        }
        break;
      default:
        break;
    }
  }
  return nullptr;
}

const char* SkipJsonValue(const char* p, bool across_lines, int depth,
                          JsonOnDemand& on_demand, JsonFault* fault) {
  switch (*p) {
    case '"':
      return SkipString(p, on_demand, fault);
    case '{':
    case '[':
      if (depth <= 0) return fault->Set(p, "values nested at most 1024 deep");
      return SkipMembers(p + 1, *p == '{', across_lines, depth - 1, on_demand, fault);
    case 't':
      return StartsWith(p, "true") ? p + 4 : fault->Set(p, "a value");
    case 'f':
      return StartsWith(p, "false") ? p + 5 : fault->Set(p, "a value");
    case 'n':
      return StartsWith(p, "null") ? p + 4 : fault->Set(p, "a value");
    default: {
      JsonNumberValue ignored;
      return ReadJsonNumber(p, &ignored, fault);
    }
  }
}

}  // namespace xshards::io
