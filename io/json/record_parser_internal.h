// SPDX-License-Identifier: Apache-2.0
#pragma once

// The record loop, compiled once for each processor family: a file includes this after
// defining its own `Vector`. Nothing here may use inline functions of other headers,
// since the linker could then use code for one processor in all callers.

#include <cstdint>

#include "io/json/record_parser.h"

namespace xshards::io {
namespace {

// The closing quote of a string, where `p` is at a backslash; nullptr if a control
// character comes before it.
inline const char* FindQuote(const char* p) {
  while (*p != '"') {
    if (*p == '\\') {
      if (static_cast<unsigned char>(p[1]) < 0x20) return nullptr;
      p += 2;
    } else if (static_cast<unsigned char>(*p) < 0x20) {
      return nullptr;
    }
    int run = 0;
    while ((run = Vector::CountPlain(p)) == Vector::kBytes) p += run;
    p += run;
  }
  return p;
}

// A text with an escape in it, or longer than a vector; `p` is after its quote.
__attribute__((noinline)) const char* ReadLongText(JsonState& state, JsonColumn& column,
                                                   const char* p) {
  const char* const quote = p - 1;
  int64_t size = column.text_size;
  while (true) {
    if (size + Vector::kBytes > column.text_capacity &&
        !GrowText(&column, size + Vector::kBytes)) {
      return NoJsonMemory(state);
    }
    const int run = Vector::CopyPlain(p, column.text + size);
    p += run;
    size += run;
    if (run == Vector::kBytes) continue;
    if (*p != '"') {
      const char* const end = FindQuote(p);
      return end == nullptr ? ReadUnusualJson(state, column, quote)
                            : ReadEscapedText(state, column, quote + 1, end);
    }
    column.text_size = size;
    column.int64s()[++column.length] = size;
    return p + 1;
  }
}

inline const char* ReadText(JsonState& state, JsonColumn& column, const char* p) {
  if (*p != '"') return ReadUnusualJson(state, column, p);
  ++p;
  if (column.text_size + Vector::kBytes > column.text_capacity) {
    return ReadLongText(state, column, p);
  }
  const int run = Vector::CopyPlain(p, column.text + column.text_size);
  if (run == Vector::kBytes || p[run] != '"') return ReadLongText(state, column, p);
  column.text_size += run;
  column.int64s()[++column.length] = column.text_size;
  return p + run + 1;
}

inline unsigned Digit(const char* p) { return static_cast<unsigned char>(*p - '0'); }

// Append digits to a number; returns the position after them.
inline const char* ReadDigits(const char* p, uint64_t* value) {
  for (unsigned digit = Digit(p); digit <= 9; digit = Digit(++p)) {
    *value = *value * 10 + digit;
  }
  return p;
}

// The digits before the point, at least one: no digit follows a leading zero.
inline const char* ReadWhole(const char* p, uint64_t* value) {
  return *p == '0' ? p + 1 : ReadDigits(p, value);
}

// Whether a number continues after its integer digits.
inline bool GoesOn(char c) { return c == '.' || c == 'e' || c == 'E'; }

inline const char* ReadInteger(JsonState& state, JsonColumn& column, const char* p) {
  const bool negative = *p == '-';
  const char* const first = p + (negative ? 1 : 0);
  if (Digit(first) > 9) return ReadUnusualJson(state, column, p);
  uint64_t value = 0;
  const char* const q = ReadWhole(first, &value);
  // 18 digits always fit; unsigned columns accept no minus.
  const bool usual =
      q - first <= 18 && !GoesOn(*q) && !(negative && column.kind == JsonKind::kUInt64);
  if (!usual) return ReadUnusualJson(state, column, p);
  const auto size = static_cast<int64_t>(value);
  column.int64s()[column.length++] = negative ? -size : size;
  return q;
}

constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline const char* ReadDouble(JsonState& state, JsonColumn& column, const char* p) {
  const bool negative = *p == '-';
  const char* const first = p + (negative ? 1 : 0);
  if (Digit(first) > 9) return ReadUnusualJson(state, column, p);
  uint64_t value = 0;
  const char* q = ReadWhole(first, &value);
  int64_t num_decimals = 0;
  if (*q == '.') {
    const char* const point = q;
    q = ReadDigits(point + 1, &value);
    num_decimals = q - point - 1;
    if (num_decimals == 0) return ReadUnusualJson(state, column, p);
  }
  // Both the digits and the power of ten are exact: one division rounds once.
  const bool usual = q - first <= 19 && value <= (uint64_t{1} << 53) &&
                     num_decimals <= 22 && !GoesOn(*q);
  if (!usual) return ReadUnusualJson(state, column, p);
  const double size = static_cast<double>(value) / kPowersOfTen[num_decimals];
  column.doubles()[column.length++] = negative ? -size : size;
  return q;
}

inline const char* ReadBool(JsonState& state, JsonColumn& column, const char* p) {
  if (*p <= ' ') p = SkipJsonBlanks(p, state.is_array);
  const bool is_true = p[0] == 't' && p[1] == 'r' && p[2] == 'u' && p[3] == 'e';
  const bool is_false =
      p[0] == 'f' && p[1] == 'a' && p[2] == 'l' && p[3] == 's' && p[4] == 'e';
  if (!is_true && !is_false) return ReadUnusualJson(state, column, p);
  const int64_t row = column.length++;
  column.values[row >> 3] |= static_cast<uint8_t>((is_true ? 1 : 0) << (row & 7));
  return p + (is_true ? 4 : 5);
}

const char* ReadObject(JsonState& state, JsonObject& object, int64_t row, const char* p);

// `p` is at the value, or at blanks before it if there were none the last time.
const char* ReadValue(JsonState& state, JsonColumn& column, const char* p);

__attribute__((noinline)) const char* ReadList(JsonState& state, JsonColumn& column,
                                               const char* p) {
  if (*p <= ' ') p = SkipJsonBlanks(p, state.is_array);
  if (*p != '[') return ReadUnusualJson(state, column, p);
  JsonColumn& item = *column.item;
  p = SkipJsonBlanks(p + 1, state.is_array);
  if (*p == ']') {
    ++p;
  } else {
    while (true) {
      if (item.length == item.capacity && !GrowRows(&item)) return NoJsonMemory(state);
      p = ReadValue(state, item, p);
      if (p == nullptr) return nullptr;
      p = SkipJsonBlanks(p, state.is_array);
      const char c = *p++;
      if (c == ']') break;
      if (c != ',') return JsonFailure(state, p - 1, "',' or ']'");
      p = SkipJsonBlanks(p, state.is_array);
    }
  }
  column.list_offsets()[++column.length] = static_cast<int32_t>(item.length);
  return p;
}

// A value that is not requested, but must be valid.
inline const char* SkipValue(JsonState& state, const char* p) {
  const char* q = p;
  if (*q == '"') {
    int run = 0;
    ++q;
    while ((run = Vector::CountPlain(q)) == Vector::kBytes) q += run;
    q += run;
    if (*q == '"') return q + 1;
    q = FindQuote(q);
    if (q != nullptr) return SkipEscapedText(state, p + 1, q);
  } else {
    uint64_t ignored = 0;
    if (*q == '-') ++q;
    if (Digit(q) <= 9) {
      q = ReadWhole(q, &ignored);
      if (*q == '.' && Digit(q + 1) <= 9) q = ReadDigits(q + 1, &ignored);
      if (!GoesOn(*q)) return q;
    }
  }
  return SkipUnusualJson(state, p);
}

const char* ReadValue(JsonState& state, JsonColumn& column, const char* p) {
  switch (column.kind) {
    case JsonKind::kBool:
      return ReadBool(state, column, p);
    case JsonKind::kInt64:
    case JsonKind::kUInt64:
      return ReadInteger(state, column, p);
    case JsonKind::kDouble:
      return ReadDouble(state, column, p);
    case JsonKind::kText:
    case JsonKind::kAnyText:
      return ReadText(state, column, p);
    case JsonKind::kJson:
      return ReadUnusualJson(state, column, p);
    case JsonKind::kList:
      return ReadList(state, column, p);
    case JsonKind::kObject: {
      if (*p <= ' ') p = SkipJsonBlanks(p, state.is_array);
      if (*p != '{') return ReadUnusualJson(state, column, p);
      p = ReadObject(state, *column.object, column.length, p + 1);
      if (p != nullptr) ++column.length;
      return p;
    }
  }
  return nullptr;
}

inline bool Follows(const JsonStep& step, const char* p) {
  if (!Vector::Matches(p, step.literal, step.mask)) return false;
  if (step.rest == nullptr) return step.length >= 0;
  return __builtin_memcmp(p + JsonStep::kBytes, step.rest,
                          static_cast<size_t>(step.length - JsonStep::kBytes)) == 0;
}

// One object, which becomes row `row` of its columns; `p` is after the brace.
const char* ReadObject(JsonState& state, JsonObject& object, int64_t row, const char* p) {
  int32_t at = 0;
  int32_t num_found = 0;
  while (true) {
    const JsonStep& step = object.steps[at];
    if (Follows(step, p)) [[likely]] {
      p += step.length;
      at = step.next;
    } else {
      p = NextJsonKey(state, object, at, p, &at);
      if (p == nullptr) {
        object.failed_key = 0;
        return nullptr;
      }
    }
    if (at == JsonObject::kClose) break;
    JsonColumn* const column = at < 0 ? nullptr : object.columns[at];
    // A key without a number is not remembered: the next key is found by name.
    if (column == nullptr) {
      p = SkipValue(state, p);
      if (at < 0) at = 1;
    } else {
      if (column->length > row) {
        Truncate(column, row);  // the last of several values counts
        --num_found;
      }
      p = ReadValue(state, *column, p);
      ++num_found;
    }
    if (p == nullptr) {
      object.failed_key = at;
      return nullptr;
    }
  }
  if (num_found != object.num_wanted) FillMissing(&object, row);
  return p;
}

// Skip the separators between records. Returns the start of the next or `end`; nullptr
// for a fault.
inline const char* NextRecord(JsonState& state, const char* p, const char* end) {
  if (!state.is_array) {
    while (*p == '\n' || *p == ' ' || *p == '\t' || *p == '\r') ++p;
    return p;
  }
  p = SkipJsonBlanks(p, true);
  if (p >= end || state.place == JsonArrayPlace::kEnd) return p;
  if (*p == ']' && state.place != JsonArrayPlace::kAfterComma) {
    state.place = JsonArrayPlace::kEnd;
    return SkipJsonBlanks(p + 1, true);
  }
  if (state.place == JsonArrayPlace::kAfterRecord) {
    if (*p != ',') return JsonFailure(state, p, "',' or ']'");
    state.place = JsonArrayPlace::kAfterComma;
    p = SkipJsonBlanks(p + 1, true);
  }
  return p;
}

const char* RunRecordLoop(JsonState& state, const char* p, const char* end) {
  JsonObject& record = *state.record;
  JsonColumn* const first = record.num_wanted > 0 ? record.columns[1] : nullptr;
  while (true) {
    state.record_begin = p;
    p = NextRecord(state, p, end);
    if (p == nullptr) return nullptr;
    if (p >= end) return end;
    state.record_begin = p;
    const bool has_ended = state.place == JsonArrayPlace::kEnd;
    if (*p != '{' || has_ended) {
      return JsonFailure(state, p,
                         has_ended ? "nothing after the array" : "one JSON object");
    }
    const int64_t row = state.num_rows;
    if (first != nullptr && first->length == first->capacity && !GrowColumns(&record)) {
      return NoJsonMemory(state);
    }
    p = ReadObject(state, record, row, p + 1);
    if (p != nullptr && !state.is_array && *p != '\n' && p < end) {
      p = SkipJsonBlanks(p, false);
      if (*p != '\n' && p < end) p = JsonFailure(state, p, "the end of the line");
    }
    if (p == nullptr) {
      Truncate(&record, row);
      return nullptr;
    }
    state.num_rows = row + 1;
    state.place = JsonArrayPlace::kAfterRecord;
  }
}

}  // namespace
}  // namespace xshards::io
