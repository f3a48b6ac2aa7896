// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "io/json/value_parser.h"
#include "xshards/types/json_text_field.h"

namespace xshards::io {

/// What forms the values of a column have had, or the records of files. Values that come
/// later only ever widen the type it gives: a column that is JSON text stays that.
class JsonShape {
 public:
  /// Objects in a column with more keys than this are data, not records: JSON text.
  static constexpr size_t kMaxMembers = 1000;

  /// Of records there may be any number of keys: each is a column.
  static JsonShape OfRecords();

  // Add a value. A null adds nothing.
  void AddBool() { forms_ |= kBool; }
  void AddNumber(const JsonNumberValue& number);
  void AddText() { forms_ |= kText; }
  void AddObject() {
    forms_ |= kObject;
    next_ = 0;
  }
  /// Add an array; returns the shape of its items.
  JsonShape& AddList();
  /// The shape of the values of a key of objects; nullptr where there are too many keys.
  JsonShape* MemberFor(std::string_view key);

  /// Take in what another shape has seen.
  void Merge(const JsonShape& other);

  /// The columns, of records: one a key, in the order the keys came.
  arrow::FieldVector ToFields() const;

  /// The shape as bytes that Decode() makes it of again, wherever it is sent.
  std::string Encode() const;
  static arrow::Result<JsonShape> Decode(std::string_view bytes);

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
    kCrowd = 512,  // objects of too many keys
  };

  JsonShape() = default;

  void ForgetMembers();
  JsonShape* ItemShape();
  // A type that holds all values seen; nullptr where only JSON text does. Integers are
  // int64, or uint64 if some are larger; with other numbers they are float64, as is what
  // is missing throughout.
  std::shared_ptr<arrow::DataType> ToType(int depth) const;
  void EncodeTo(std::string* out) const;
  bool DecodeFrom(std::string_view* bytes, int depth);

  bool is_of_records_ = false;
  uint16_t forms_ = 0;
  std::unique_ptr<JsonShape> item_;
  std::vector<std::string> keys_;
  std::vector<std::unique_ptr<JsonShape>> members_;  // one a key
  std::unordered_map<std::string, size_t> position_of_;
  size_t next_ = 0;  // position of the key to expect: objects repeat the order of keys
};

}  // namespace xshards::io
