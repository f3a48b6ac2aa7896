// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

namespace xshards::io {

/// What a column takes, and what `values` of it is.
enum class JsonKind : uint8_t {
  kBool,     // bits
  kInt64,    // int64_t
  kUInt64,   // uint64_t
  kDouble,   // double; takes integers too
  kText,     // int64_t offsets; takes strings
  kAnyText,  // int64_t offsets; takes everything, what is no string as it is written
  kJson,     // int64_t offsets; takes everything, as it is written
  kList,     // int32_t offsets
  kObject,   // nothing
};

struct JsonObject;

/// A column that grows. Plain pointers, for the record loop to write through; the loop
/// sees to it that there is room. Values are valid unless said otherwise.
struct JsonColumn {
  JsonKind kind = JsonKind::kDouble;
  bool is_settled = false;   // the user gave the type
  bool is_inferred = false;  // samples gave it: values that would change it do not fit
  int64_t length = 0;
  int64_t capacity = 0;  // rows
  int64_t num_nulls = 0;
  uint8_t* valid = nullptr;  // bits; ones from `length` on
  uint8_t* values = nullptr;
  char* text = nullptr;
  int64_t text_size = 0;
  int64_t text_capacity = 0;
  JsonColumn* item = nullptr;    // of a list
  JsonObject* object = nullptr;  // of an object

  // Inlined everywhere: they are used in code for several processors.
  [[gnu::always_inline]] int64_t* int64s() { return reinterpret_cast<int64_t*>(values); }
  [[gnu::always_inline]] double* doubles() { return reinterpret_cast<double*>(values); }
  [[gnu::always_inline]] int32_t* list_offsets() {
    return reinterpret_cast<int32_t*>(values);
  }

  std::string name;
  std::shared_ptr<arrow::DataType> type;
  arrow::MemoryPool* pool = nullptr;
  std::shared_ptr<arrow::ResizableBuffer> valid_buffer;
  std::shared_ptr<arrow::ResizableBuffer> values_buffer;
  std::shared_ptr<arrow::ResizableBuffer> text_buffer;
  int64_t usual_length = 0;  // rows that a batch has, about
  double usual_text = 0;     // bytes a row in the last batch
  std::unique_ptr<JsonColumn> owned_item;
  std::unique_ptr<JsonObject> owned_object;
};

/// What followed a key in the object before: the text up to the value of the next key.
/// Where it comes again, one comparison finds that key.
struct JsonStep {
  static constexpr int kBytes = 32;  // compared at once
  char literal[kBytes] = {};
  uint32_t mask = 0;           // the bytes of `literal` that count
  int32_t length = -1;         // of the whole text; -1: nothing is known
  int32_t next = -1;           // the key that follows; kClose at the end of the object
  const char* rest = nullptr;  // what is beyond `literal`

  /// Longer texts are not remembered: comparing them could read behind the padding.
  static constexpr int64_t kMaxLength = kBytes + 64;
};

/// The keys of an object in a column or of a record. Key 0 stands for its start.
struct JsonObject {
  static constexpr int32_t kClose = 0;

  JsonStep* steps = nullptr;       // by key: what comes after it
  JsonColumn** columns = nullptr;  // by key: nullptr where values are not wanted
  int32_t num_wanted = 0;
  bool is_closed = false;  // a key it does not know is a mismatch
  int32_t failed_key = 0;  // whose value ended the loop; 0: there was a new key

  /// The key of a name. A new one gets a number, up to a limit; -1 beyond it.
  int32_t Find(const std::string& name);
  /// Remember that `begin` to `end` led from key `at` to key `next`.
  void Learn(int32_t at, const char* begin, const char* end, int32_t next);
  int32_t AddKey(const std::string& name, JsonColumn* column);

  std::vector<std::unique_ptr<JsonColumn>> owned_columns;
  std::vector<JsonStep> owned_steps;
  std::deque<std::string> rests;  // steps point into them
  std::vector<JsonColumn*> column_of_key;
  std::unordered_map<std::string, int32_t> key_of_name;
};

/// What an object is read as.
struct JsonObjectFields {
  const arrow::FieldVector& wanted;
  /// All keys it may have: those not wanted are checked and skipped.
  const arrow::FieldVector& known;
  /// Names of fields that have their type from the user, and whether the other types are
  /// inferred.
  const std::vector<std::string>& settled;
  bool inferred = false;
  /// Whether a key that is not known is a mismatch; else it is skipped.
  bool is_closed = false;
};

/// Columns for the fields wanted.
arrow::Result<std::unique_ptr<JsonObject>> MakeJsonObject(const JsonObjectFields& fields,
                                                          arrow::MemoryPool* pool);

/// Make room for more rows, or for so many bytes of text in all; false: no memory.
bool GrowRows(JsonColumn* column);
bool GrowText(JsonColumn* column, int64_t text_size);
/// Say how many rows a batch will have, about.
void ExpectRows(JsonObject* object, int64_t num_rows);
/// Make room for a row in all columns.
bool GrowColumns(JsonObject* object);

/// Append a missing value. There must be room.
void AppendMissing(JsonColumn* column);
/// Append missing values to the columns that have `row` rows only.
void FillMissing(JsonObject* object, int64_t row);
/// Forget what is behind the first `length` rows, and what an unfinished row left.
void Truncate(JsonColumn* column, int64_t length);
void Truncate(JsonObject* object, int64_t length);

/// Take the rows out as arrays; the columns are empty then.
arrow::Result<std::vector<std::shared_ptr<arrow::ArrayData>>> FinishColumns(
    JsonObject* object);

}  // namespace xshards::io
