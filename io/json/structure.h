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

/// The kinds of values seen in a column, or in the records of files. Later values only
/// widen the inferred type: a column that is JSON text stays JSON text.
class JsonShape {
 public:
  /// Objects in a column with more keys than this are data, not records: JSON text.
  static constexpr size_t kMaxMembers = 1000;

  /// Records may have any number of keys: each is a column.
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
  /// The shape of the values of a key of objects; nullptr if there are too many keys.
  JsonShape* MemberFor(std::string_view key);

  /// Merge another shape.
  void Merge(const JsonShape& other);

  /// The columns of records: one per key, in order of first appearance.
  arrow::FieldVector ToFields() const;

  /// Encode the shape as bytes for Decode(), possibly in another process.
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
  // A type that holds all values seen; nullptr if only JSON text does. Integers are
  // int64, or uint64 if some are larger; with other numbers they are float64, as are
  // columns without values.
  std::shared_ptr<arrow::DataType> ToType(int depth) const;
  void EncodeTo(std::string* out) const;
  bool DecodeFrom(std::string_view* bytes, int depth);

  bool is_of_records_ = false;
  uint16_t forms_ = 0;
  std::unique_ptr<JsonShape> item_;
  std::vector<std::string> keys_;
  std::vector<std::unique_ptr<JsonShape>> members_;  // one per key
  std::unordered_map<std::string, size_t> position_of_;
  size_t next_ = 0;  // position of the expected key: objects repeat the order of keys
};

}  // namespace xshards::io
