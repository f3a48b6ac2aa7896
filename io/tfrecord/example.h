// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xshards::io {

// The protocol buffers of tf.train.Example, as far as needed here:
//   Example   { Features features = 1; }
//   Features  { map<string, Feature> feature = 1; }
//   Feature   { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }
//   each list { repeated value = 1; }, numbers packed or not

enum class FeatureKind : uint8_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

/// "bytes", "float", "int64", or "nothing".
const char* ToString(FeatureKind kind);

/// Reads the fields of a message in order. Never reads past its end, whatever the bytes
/// are.
class WireReader {
 public:
  enum Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit WireReader(std::string_view message)
      : p_(message.data()), end_(message.data() + message.size()) {}

  bool is_at_end() const { return p_ == end_; }

  /// Read the number and the type of the next field; false if the bytes are damaged.
  bool ReadTag(uint32_t* field, Type* type) {
    uint64_t tag = 0;
    if (!ReadVarint(&tag) || tag >> 35 != 0) return false;
    *field = static_cast<uint32_t>(tag >> 3);
    *type = static_cast<Type>(tag & 7U);
    return *field != 0;
  }
  bool ReadVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 70 && p_ < end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*p_++);
      *value |= static_cast<uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool ReadBytes(std::string_view* bytes) {
    uint64_t size = 0;
    if (!ReadVarint(&size) || size > static_cast<uint64_t>(end_ - p_)) return false;
    *bytes = {p_, static_cast<size_t>(size)};
    p_ += size;
    return true;
  }
  /// Read the bytes of a number of fixed size.
  bool ReadFixed(size_t size, std::string_view* bytes) {
    if (size > static_cast<size_t>(end_ - p_)) return false;
    *bytes = {p_, size};
    p_ += size;
    return true;
  }
  /// Skip the value of a field; false for groups, which are deprecated.
  bool Skip(Type type);

 private:
  const char* p_;
  const char* end_;
};

/// One feature of an Example.
struct Feature {
  std::string_view name;
  FeatureKind kind = FeatureKind::kNone;
  std::string_view list;  // the message with its values
};

/// Reads the features of an Example in order.
class ExampleReader {
 public:
  explicit ExampleReader(std::string_view example) : example_(example), features_({}) {}

  enum class Outcome : uint8_t { kFeature, kEnd, kDamaged, kSequence };
  /// kSequence: it is a SequenceExample.
  Outcome Next(Feature* feature);

 private:
  Outcome ReadFeature(std::string_view entry, Feature* feature);

  WireReader example_;
  WireReader features_;
};

/// Call `append` with the text of each value; false if the bytes are damaged.
template <typename Append>
bool ForEachBytes(std::string_view list, Append append) {
  WireReader reader(list);
  while (!reader.is_at_end()) {
    uint32_t field = 0;
    WireReader::Type type{};
    if (!reader.ReadTag(&field, &type)) return false;
    std::string_view value;
    if (field == 1 && type == WireReader::kBytes) {
      if (!reader.ReadBytes(&value)) return false;
      append(value);
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

/// Call `append` with the bytes of several numbers at a time, four bytes each.
template <typename Append>
bool ForEachFloats(std::string_view list, Append append) {
  WireReader reader(list);
  while (!reader.is_at_end()) {
    uint32_t field = 0;
    WireReader::Type type{};
    if (!reader.ReadTag(&field, &type)) return false;
    std::string_view values;
    if (field == 1 && type == WireReader::kBytes) {
      if (!reader.ReadBytes(&values) || values.size() % sizeof(float) != 0) return false;
      append(values);
    } else if (field == 1 && type == WireReader::kFixed32) {
      if (!reader.ReadFixed(sizeof(float), &values)) return false;
      append(values);
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

/// Call `append` with each number.
template <typename Append>
bool ForEachInt64(std::string_view list, Append append) {
  WireReader reader(list);
  while (!reader.is_at_end()) {
    uint32_t field = 0;
    WireReader::Type type{};
    if (!reader.ReadTag(&field, &type)) return false;
    uint64_t value = 0;
    if (field == 1 && type == WireReader::kBytes) {
      std::string_view packed;
      if (!reader.ReadBytes(&packed)) return false;
      WireReader values(packed);
      while (!values.is_at_end()) {
        if (!values.ReadVarint(&value)) return false;
        append(static_cast<int64_t>(value));
      }
    } else if (field == 1 && type == WireReader::kVarint) {
      if (!reader.ReadVarint(&value)) return false;
      append(static_cast<int64_t>(value));
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

/// The number of values of a feature; -1 if its bytes are damaged.
int64_t CountValues(const Feature& feature);

/// Builds the bytes of an Example, feature by feature.
class ExampleBuilder {
 public:
  void AddBytes(std::string_view name, const std::string_view* values, int64_t count);
  void AddFloats(std::string_view name, const float* values, int64_t count);
  void AddInt64(std::string_view name, const int64_t* values, int64_t count);

  /// The bytes of the features added since the last call; valid until the next one.
  std::string_view Finish();

 private:
  void AddFeature(std::string_view name, FeatureKind kind);

  std::string list_;      // of the feature being added
  std::string features_;  // of the Example
  std::string example_;
};

}  // namespace xshards::io
