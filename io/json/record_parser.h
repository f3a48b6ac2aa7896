// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "io/json/column_builders.h"
#include "io/json/value_parser.h"

namespace xshards::io {

class JsonOnDemand;

/// Why the record loop stopped before the end.
enum class JsonStop : uint8_t { kNone, kFault, kTypeMismatch, kNoMemory };

/// Where in an array of records the text continues.
enum class JsonArrayPlace : uint8_t {
  kBegin,        // after the bracket
  kAfterRecord,  // a comma or the closing bracket follows
  kAfterComma,
  kEnd,  // after the closing bracket
};

/// The state of the record loop.
struct JsonState {
  JsonObject* record = nullptr;
  JsonOnDemand* on_demand = nullptr;  // unescapes
  int64_t num_rows = 0;               // complete
  bool is_array = false;              // records are elements of an array, not lines
  JsonArrayPlace place = JsonArrayPlace::kBegin;

  JsonStop stop = JsonStop::kNone;
  JsonFault fault;                     // its position, also for a mismatch
  const char* record_begin = nullptr;  // of the record it stopped in
  std::string scratch;
};

/// Append the records of a text to the columns. The text is followed by kJsonPadding zero
/// bytes. Returns the end; or nullptr, with the reason in `stop` and the columns as
/// before the record.
using JsonRecordLoop = const char* (*)(JsonState& state, const char* begin,
                                       const char* end);

/// Processors that the loop is compiled for.
enum class JsonTarget : uint8_t { kBaseline, kAvx2 };
bool IsSupported(JsonTarget target);
JsonTarget BestJsonTarget();
JsonRecordLoop RecordLoopFor(JsonTarget target);

// One for each file json_record_loop_<target>.cc.
JsonRecordLoop BaselineRecordLoop();
JsonRecordLoop Avx2RecordLoop();

// Called by the loop for unexpected records.

/// Find the key that follows key `at`, and remember the text up to its value; or the end
/// of the object. Returns the position after it.
const char* NextJsonKey(JsonState& state, JsonObject& object, int32_t at, const char* p,
                        int32_t* next);
/// Append a value that is not of the usual form for its column: null, a number of many
/// digits, an escape; or one that does not fit.
const char* ReadUnusualJson(JsonState& state, JsonColumn& column, const char* p);
/// Append a string with escapes, or check them: from the text after its opening quote to
/// its closing quote. Returns the position after it.
const char* ReadEscapedText(JsonState& state, JsonColumn& column, const char* begin,
                            const char* quote);
const char* SkipEscapedText(JsonState& state, const char* begin, const char* quote);
/// Check a value that is not requested.
const char* SkipUnusualJson(JsonState& state, const char* p);
/// Record that memory is exhausted.
const char* NoJsonMemory(JsonState& state);
/// Record that a value does not fit its column, or is not JSON at all.
const char* JsonTypeMismatch(JsonState& state, const char* p);
/// Record that the text is not JSON.
const char* JsonFailure(JsonState& state, const char* p, const char* expected);

}  // namespace xshards::io
