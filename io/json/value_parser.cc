// SPDX-License-Identifier: Apache-2.0
#include "io/json/value_parser.h"

#include <charconv>
#include <cstring>
#include <limits>

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
  // Too large or too small: the sign of the decimal exponent tells.
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

// The four hexadecimal digits of \uXXXX; -1 where they are not.
int32_t ReadHex(const char* p) {
  int32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const char lower = static_cast<char>(c | 0x20);
    if (IsDigit(c)) {
      code = code * 16 + (c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      code = code * 16 + (lower - 'a' + 10);
    } else {
      return -1;
    }
  }
  return code;
}

void AppendUtf8(int32_t code, std::string* out) {
  const auto push = [out](int32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0 | (code >> 6));
    push(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    push(0xE0 | (code >> 12));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  } else {
    push(0xF0 | (code >> 18));
    push(0x80 | ((code >> 12) & 0x3F));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  }
}

const char* ReadUnicodeEscape(const char* p, std::string* out, JsonFault* fault) {
  int32_t code = ReadHex(p + 2);
  if (code < 0) return fault->Set(p, "four hexadecimal digits after \\u");
  const char* next = p + 6;
  if (code >= 0xD800 && code < 0xE000) {
    const int32_t low =
        code < 0xDC00 && next[0] == '\\' && next[1] == 'u' ? ReadHex(next + 2) : -1;
    if (low < 0xDC00 || low >= 0xE000) {
      return fault->Set(p, "surrogates in pairs (UTF-8 has no form for one alone)");
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    next += 6;
  }
  AppendUtf8(code, out);
  return next;
}

const char* SkipString(const char* p, JsonFault* fault) {
  std::string escaped;
  for (++p; *p != '"';) {
    if (*p == '\\') {
      escaped.clear();
      p = ReadJsonEscape(p, &escaped, fault);
      if (p == nullptr) return nullptr;
    } else if (static_cast<unsigned char>(*p) < 0x20) {
      return fault->Set(p, "a closing quote (control characters must be escaped)");
    } else {
      ++p;
    }
  }
  return p + 1;
}

// The rest of an array or object behind its bracket.
const char* SkipMembers(const char* p, bool is_object, bool across_lines, int depth,
                        JsonFault* fault) {
  const char close = is_object ? '}' : ']';
  p = SkipJsonBlanks(p, across_lines);
  if (*p == close) return p + 1;
  while (true) {
    if (is_object) {
      if (*p != '"') return fault->Set(p, "a key in quotes");
      p = SkipString(p, fault);
      if (p == nullptr) return nullptr;
      p = SkipJsonBlanks(p, across_lines);
      if (*p != ':') return fault->Set(p, "':'");
      p = SkipJsonBlanks(p + 1, across_lines);
    }
    p = SkipJsonValue(p, across_lines, depth, fault);
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

const char* ReadJsonEscape(const char* p, std::string* out, JsonFault* fault) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (p[1] == 'u') return ReadUnicodeEscape(p, out, fault);
  const size_t which = p[1] == '\0' ? std::string_view::npos : kLetters.find(p[1]);
  if (which == std::string_view::npos) return fault->Set(p, "a JSON escape after '\\'");
  out->push_back(kValues[which]);
  return p + 2;
}

const char* ReadJsonString(const char* p, std::string* out, JsonFault* fault) {
  const char* run = ++p;
  while (true) {
    if (*p == '"' || *p == '\\') {
      out->append(run, p);
      if (*p == '"') return p + 1;
      p = ReadJsonEscape(p, out, fault);
      if (p == nullptr) return nullptr;
      run = p;
    } else if (static_cast<unsigned char>(*p) < 0x20) {
      return fault->Set(p, "a closing quote (control characters must be escaped)");
    } else {
      ++p;
    }
  }
}

const char* SkipJsonValue(const char* p, bool across_lines, int depth, JsonFault* fault) {
  switch (*p) {
    case '"':
      return SkipString(p, fault);
    case '{':
    case '[':
      if (depth <= 0) return fault->Set(p, "values nested at most 1024 deep");
      return SkipMembers(p + 1, *p == '{', across_lines, depth - 1, fault);
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
