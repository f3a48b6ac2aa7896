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

/// The kind of values a column accepts, and the layout of its `values`.
enum class JsonKind : uint8_t {
  kBool,     // bits
  kInt64,    // int64_t
  kUInt64,   // uint64_t
  kDouble,   // double; accepts integers too
  kText,     // int64_t offsets; accepts strings
  kAnyText,  // int64_t offsets; accepts everything, non-strings as written
  kJson,     // int64_t offsets; accepts everything, as written
  kList,     // int32_t offsets
  kObject,   // nothing
};

struct JsonObject;

/// A growing column. Plain pointers, for the record loop to write through; the loop makes
/// sure that there is room. Values are valid unless cleared.
struct JsonColumn {
  JsonKind kind = JsonKind::kDouble;
  bool is_settled = false;  // the user specified the type
  bool is_inferred =
      false;  // inferred from samples: values that would change it do not fit
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

  // Always inlined: they are used in code for several processors.
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
  int64_t usual_length = 0;  // approximate rows of a batch
  double usual_text = 0;     // bytes per row in the last batch
  std::unique_ptr<JsonColumn> owned_item;
  std::unique_ptr<JsonObject> owned_object;
};

/// The text after a key in the previous object, up to the value of the next key. If it
/// repeats, one comparison finds that key.
struct JsonStep {
  static constexpr int kBytes = 32;  // compared at once
  char literal[kBytes] = {};
  uint32_t mask = 0;           // the bytes of `literal` that count
  int32_t length = -1;         // of the complete text; -1: unknown
  int32_t next = -1;           // the key that follows; kClose at the end of the object
  const char* rest = nullptr;  // the text after `literal`

  /// Longer texts are not remembered: comparing them could read past the padding.
  static constexpr int64_t kMaxLength = kBytes + 64;
};

/// The keys of an object in a column or of a record. Key 0 means its start.
struct JsonObject {
  static constexpr int32_t kClose = 0;

  JsonStep* steps = nullptr;       // by key: the step after it
  JsonColumn** columns = nullptr;  // by key: nullptr if its values are not requested
  int32_t num_wanted = 0;
  bool is_closed = false;  // an unknown key is a mismatch
  int32_t failed_key = 0;  // the key whose value ended the loop; 0: an unknown key

  /// The key of a name. A new one gets a number, up to a limit; -1 above it.
  int32_t Find(const std::string& name);
  /// Remember that the text `begin` to `end` led from key `at` to key `next`.
  void Learn(int32_t at, const char* begin, const char* end, int32_t next);
  int32_t AddKey(const std::string& name, JsonColumn* column);

  std::vector<std::unique_ptr<JsonColumn>> owned_columns;
  std::vector<JsonStep> owned_steps;
  std::deque<std::string> rests;  // steps point into them
  std::vector<JsonColumn*> column_of_key;
  std::unordered_map<std::string, int32_t> key_of_name;
};

/// How an object is read.
struct JsonObjectFields {
  const arrow::FieldVector& wanted;
  /// All keys it may have: those not requested are checked and skipped.
  const arrow::FieldVector& known;
  /// Names of fields whose type the user specified, and whether the other types are
  /// inferred.
  const std::vector<std::string>& settled;
  bool inferred = false;
  /// Whether an unknown key is a mismatch; else it is skipped.
  bool is_closed = false;
};

/// Columns for the requested fields.
arrow::Result<std::unique_ptr<JsonObject>> MakeJsonObject(const JsonObjectFields& fields,
                                                          arrow::MemoryPool* pool);

/// Make room for more rows, or for a total of `text_size` bytes of text; false: out of
/// memory.
bool GrowRows(JsonColumn* column);
bool GrowText(JsonColumn* column, int64_t text_size);
/// Set the approximate number of rows of a batch.
void ExpectRows(JsonObject* object, int64_t num_rows);
/// Make room for a row in all columns.
bool GrowColumns(JsonObject* object);

/// Append a missing value. There must be room.
void AppendMissing(JsonColumn* column);
/// Append missing values to the columns that have only `row` rows.
void FillMissing(JsonObject* object, int64_t row);
/// Drop everything after the first `length` rows, including an unfinished row.
void Truncate(JsonColumn* column, int64_t length);
void Truncate(JsonObject* object, int64_t length);

/// Return the rows as arrays; the columns are empty afterwards.
arrow::Result<std::vector<std::shared_ptr<arrow::ArrayData>>> FinishColumns(
    JsonObject* object);

}  // namespace xshards::io
