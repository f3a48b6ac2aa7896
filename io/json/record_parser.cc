// SPDX-License-Identifier: Apache-2.0
#include "io/json/record_parser.h"

#include <cstring>
#include <string>

#include "io/json/on_demand.h"

namespace xshards::io {
namespace {

// Append `size` bytes as one text.
bool AppendText(JsonColumn& column, const char* bytes, int64_t size) {
  if (column.text_size + size > column.text_capacity &&
      !GrowText(&column, column.text_size + size)) {
    return false;
  }
  // An empty text may be appended before any memory is allocated.
  if (size > 0) {
    std::memcpy(column.text + column.text_size, bytes, static_cast<size_t>(size));
  }
  column.text_size += size;
  column.int64s()[++column.length] = column.text_size;
  return true;
}

// Whether a double represents the number as exactly as its own type would.
bool IsExact(const JsonNumberValue& number) {
  constexpr int64_t kLimit = int64_t{1} << 53;
  if (number.kind == JsonNumber::kDouble) return true;
  return number.kind == JsonNumber::kInt64 && number.integer <= kLimit &&
         number.integer >= -kLimit;
}

const char* ReadString(JsonState& state, JsonColumn& column, const char* p) {
  bool has_escape = false;
  const char* const quote = FindJsonStringEnd(p, &has_escape, &state.fault);
  if (quote == nullptr) return JsonFailure(state, state.fault.at, state.fault.expected);
  if (has_escape) return ReadEscapedText(state, column, p + 1, quote);
  return AppendText(column, p + 1, quote - p - 1) ? quote + 1 : NoJsonMemory(state);
}

// Read a key into the scratch memory; returns the position after it.
const char* ReadKey(JsonState& state, const char* p) {
  bool has_escape = false;
  const char* const quote = FindJsonStringEnd(p, &has_escape, &state.fault);
  if (quote == nullptr) return JsonFailure(state, state.fault.at, state.fault.expected);
  state.scratch.assign(p + 1, quote);
  if (!has_escape) return quote + 1;
  state.scratch.resize(state.scratch.size() + static_cast<size_t>(kJsonPadding));
  const char* const end = state.on_demand->Unescape(p + 1, state.scratch.data());
  if (end == nullptr) return JsonFailure(state, p, kJsonEscapes);
  state.scratch.resize(static_cast<size_t>(end - state.scratch.data()));
  return quote + 1;
}

// A value of any kind, as written.
const char* ReadAsWritten(JsonState& state, JsonColumn& column, const char* p) {
  const char* const end = SkipUnusualJson(state, p);
  if (end == nullptr) return nullptr;
  bool done = false;
  if (column.kind == JsonKind::kAnyText && (*p == 't' || *p == 'f')) {
    // As Python writes it.
    done = *p == 't' ? AppendText(column, "True", 4) : AppendText(column, "False", 5);
  } else {
    done = AppendText(column, p, end - p);
  }
  return done ? end : NoJsonMemory(state);
}

const char* ReadNumber(JsonState& state, JsonColumn& column, const char* p) {
  JsonNumberValue number;
  const char* const end = ReadJsonNumber(p, &number, &state.fault);
  if (end == nullptr) return JsonFailure(state, state.fault.at, state.fault.expected);
  const bool is_int64 = number.kind == JsonNumber::kInt64;
  switch (column.kind) {
    case JsonKind::kDouble:
      if (!column.is_settled && number.kind == JsonNumber::kHuge) break;
      // Combined with other values these may be another type.
      if (column.is_inferred && !IsExact(number)) break;
      column.doubles()[column.length++] = number.real;
      return end;
    case JsonKind::kInt64:
      if (!is_int64) break;
      column.int64s()[column.length++] = number.integer;
      return end;
    case JsonKind::kUInt64:
      if (!(is_int64 && number.integer >= 0) && number.kind != JsonNumber::kUInt64) break;
      column.int64s()[column.length++] = number.integer;
      return end;
    default:
      break;
  }
  return JsonTypeMismatch(state, p);
}

}  // namespace

#ifdef __x86_64__

bool IsSupported(JsonTarget target) {
  return target == JsonTarget::kBaseline ||
         (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
          __builtin_cpu_supports("popcnt") != 0);
}

JsonRecordLoop RecordLoopFor(JsonTarget target) {
  return target == JsonTarget::kAvx2 ? Avx2RecordLoop() : BaselineRecordLoop();
}

#else

bool IsSupported(JsonTarget target) { return target == JsonTarget::kBaseline; }

JsonRecordLoop RecordLoopFor(JsonTarget) { return BaselineRecordLoop(); }

#endif

JsonTarget BestJsonTarget() {
  return IsSupported(JsonTarget::kAvx2) ? JsonTarget::kAvx2 : JsonTarget::kBaseline;
}

const char* NextJsonKey(JsonState& state, JsonObject& object, int32_t at, const char* p,
                        int32_t* next) {
  const char* const begin = p;
  const bool across_lines = state.is_array;
  p = SkipJsonBlanks(p, across_lines);
  if (*p == '}') {
    *next = JsonObject::kClose;
    object.Learn(at, begin, p + 1, JsonObject::kClose);
    return p + 1;
  }
  if (at != 0) {
    if (*p != ',') return JsonFailure(state, p, "',' or '}'");
    p = SkipJsonBlanks(p + 1, across_lines);
  }
  if (*p != '"') return JsonFailure(state, p, "a key in quotes");
  const char* const key = p;
  p = ReadKey(state, p);
  if (p == nullptr) return nullptr;
  p = SkipJsonBlanks(p, across_lines);
  if (*p != ':') return JsonFailure(state, p, "':'");
  p = SkipJsonBlanks(p + 1, across_lines);
  const bool is_new = object.is_closed && !object.key_of_name.contains(state.scratch);
  if (is_new) return JsonTypeMismatch(state, key);
  *next = object.Find(state.scratch);
  if (*next > 0) object.Learn(at, begin, p, *next);
  return p;
}

const char* ReadUnusualJson(JsonState& state, JsonColumn& column, const char* p) {
  p = SkipJsonBlanks(p, state.is_array);
  if (std::strncmp(p, "null", 4) == 0) {
    AppendMissing(&column);
    return p + 4;
  }
  switch (column.kind) {
    case JsonKind::kJson:
      return ReadAsWritten(state, column, p);
    case JsonKind::kAnyText:
      return *p == '"' ? ReadString(state, column, p) : ReadAsWritten(state, column, p);
    case JsonKind::kText:
      if (*p == '"') return ReadString(state, column, p);
      break;
    case JsonKind::kInt64:
    case JsonKind::kUInt64:
    case JsonKind::kDouble: {
      const bool is_number =
          *p == '-' || (*p >= '0' && *p <= '9') || *p == 'N' || *p == 'I';
      if (is_number) return ReadNumber(state, column, p);
      break;
    }
    default:
      break;
  }
  return JsonTypeMismatch(state, p);
}

const char* ReadEscapedText(JsonState& state, JsonColumn& column, const char* begin,
                            const char* quote) {
  const int64_t most = column.text_size + (quote - begin);
  if (most > column.text_capacity && !GrowText(&column, most)) return NoJsonMemory(state);
  const char* const end =
      state.on_demand->Unescape(begin, column.text + column.text_size);
  if (end == nullptr) return JsonFailure(state, begin - 1, kJsonEscapes);
  column.text_size = end - column.text;
  column.int64s()[++column.length] = column.text_size;
  return quote + 1;
}

const char* SkipEscapedText(JsonState& state, const char* begin, const char* quote) {
  return state.on_demand->CheckEscapes(begin, quote)
             ? quote + 1
             : JsonFailure(state, begin - 1, kJsonEscapes);
}

const char* SkipUnusualJson(JsonState& state, const char* p) {
  p = SkipJsonBlanks(p, state.is_array);
  p = SkipJsonValue(p, state.is_array, kJsonDepth, *state.on_demand, &state.fault);
  return p != nullptr ? p : JsonFailure(state, state.fault.at, state.fault.expected);
}

const char* NoJsonMemory(JsonState& state) {
  state.stop = JsonStop::kNoMemory;
  return nullptr;
}

const char* JsonTypeMismatch(JsonState& state, const char* p) {
  state.stop = JsonStop::kTypeMismatch;
  return state.fault.Set(p, "a value of the column's type");
}

const char* JsonFailure(JsonState& state, const char* p, const char* expected) {
  state.stop = JsonStop::kFault;
  return state.fault.Set(p, expected);
}

}  // namespace xshards::io
