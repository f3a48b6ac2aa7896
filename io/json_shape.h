// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <arrow/type.h>

#include "io/json_text.h"

namespace xshards::io {

/// True for a text column whose values are JSON: values that no one type holds.
bool IsJsonText(const arrow::Field& field);
/// A field for such a column.
std::shared_ptr<arrow::Field> JsonTextField(const std::string& name);

/// What forms the values of a column have had.
class JsonShape {
 public:
  /// Take in one value, starting at `p`; returns what follows it, nullptr if it is no
  /// JSON.
  const char* Observe(const char* p, bool across_lines, JsonFault* fault);
  /// Take in what another shape has seen, or any value of a type.
  void Merge(const JsonShape& other);
  void Merge(const arrow::Field& field);
  /// Take in a key that came without its value.
  JsonShape* AddKey(const std::string& key);

  /// The columns, of records: one a key, in the order the keys came.
  arrow::FieldVector ToFields() const;
  /// A field that holds all values seen. Integers are int64, or uint64 if some are
  /// larger; with other numbers they are float64. Where there is no such type (also for
  /// integers beyond 64 bits), the field is JSON text. Missing throughout is float64.
  std::shared_ptr<arrow::Field> ToField(const std::string& name) const;

 private:
  enum Form : uint16_t {
    kBool = 1,
    kNegative = 2,  // an integer below 0
    kInteger = 4,
    kLarge = 8,  // beyond int64
    kHuge = 16,  // beyond 64 bits
    kReal = 32,
    kText = 64,
    kList = 128,
    kObject = 256,
    kAny = 512,  // already JSON text
  };

  const char* ObserveList(const char* p, bool across_lines, int depth, JsonFault* fault);
  const char* ObserveObject(const char* p, bool across_lines, int depth,
                            JsonFault* fault);
  const char* ObserveValue(const char* p, bool across_lines, int depth, JsonFault* fault);
  // nullptr where only JSON text holds it.
  std::shared_ptr<arrow::DataType> ToType(int depth) const;

  uint16_t forms_ = 0;
  std::unique_ptr<JsonShape> item_;
  std::vector<std::string> keys_;
  std::vector<std::unique_ptr<JsonShape>> members_;  // one a key
  std::unordered_map<std::string, size_t> position_of_;
};

}  // namespace xshards::io
