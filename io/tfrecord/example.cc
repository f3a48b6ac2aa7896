// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/example.h"

#include <arrow/util/endian.h>

namespace xshards::io {
namespace {

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80U);
  *out += static_cast<char>(value);
}

size_t VarintBytes(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void AppendTag(uint32_t field, WireReader::Type type, std::string* out) {
  AppendVarint(field << 3 | type, out);
}

void AppendBytesField(uint32_t field, std::string_view bytes, std::string* out) {
  AppendTag(field, WireReader::kBytes, out);
  AppendVarint(bytes.size(), out);
  *out += bytes;
}

/// The size of a bytes field whose field number takes one byte.
size_t BytesFieldSize(size_t size) { return 1 + VarintBytes(size) + size; }

}  // namespace

const char* ToString(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kBytes:
      return "bytes";
    case FeatureKind::kFloat:
      return "float";
    case FeatureKind::kInt64:
      return "int64";
    case FeatureKind::kNone:
      break;
  }
  return "nothing";
}

bool WireReader::Skip(Type type) {
  uint64_t number = 0;
  std::string_view bytes;
  switch (type) {
    case kVarint:
      return ReadVarint(&number);
    case kFixed64:
      return ReadFixed(sizeof(uint64_t), &bytes);
    case kBytes:
      return ReadBytes(&bytes);
    case kFixed32:
      return ReadFixed(sizeof(uint32_t), &bytes);
  }
  return false;
}

ExampleReader::Outcome ExampleReader::Next(Feature* feature) {
  while (true) {
    uint32_t field = 0;
    WireReader::Type type{};
    std::string_view bytes;
    if (!features_.is_at_end()) {
      if (!features_.ReadTag(&field, &type)) return Outcome::kDamaged;
      if (field == 1 && type == WireReader::kBytes) {
        if (!features_.ReadBytes(&bytes)) return Outcome::kDamaged;
        return ReadFeature(bytes, feature);
      }
      if (!features_.Skip(type)) return Outcome::kDamaged;
      continue;
    }
    if (example_.is_at_end()) return Outcome::kEnd;
    if (!example_.ReadTag(&field, &type)) return Outcome::kDamaged;
    if (field == 1 && type == WireReader::kBytes) {
      if (!example_.ReadBytes(&bytes)) return Outcome::kDamaged;
      features_ = WireReader(bytes);
    } else if (field == 2 && type == WireReader::kBytes) {
      return Outcome::kSequence;
    } else if (!example_.Skip(type)) {
      return Outcome::kDamaged;
    }
  }
}

ExampleReader::Outcome ExampleReader::ReadFeature(std::string_view entry,
                                                  Feature* feature) {
  *feature = {};
  std::string_view value;
  WireReader fields(entry);
  while (!fields.is_at_end()) {
    uint32_t field = 0;
    WireReader::Type type{};
    if (!fields.ReadTag(&field, &type)) return Outcome::kDamaged;
    const bool is_known = (field == 1 || field == 2) && type == WireReader::kBytes;
    if (!is_known && !fields.Skip(type)) return Outcome::kDamaged;
    if (is_known && !fields.ReadBytes(field == 1 ? &feature->name : &value)) {
      return Outcome::kDamaged;
    }
  }
  WireReader lists(value);
  while (!lists.is_at_end()) {
    uint32_t field = 0;
    WireReader::Type type{};
    if (!lists.ReadTag(&field, &type)) return Outcome::kDamaged;
    if (field < 1 || field > 3 || type != WireReader::kBytes) {
      if (!lists.Skip(type)) return Outcome::kDamaged;
      continue;
    }
    // A second list would have to be merged with the first, which no writer relies on.
    if (feature->kind != FeatureKind::kNone) return Outcome::kDamaged;
    feature->kind = static_cast<FeatureKind>(field);
    if (!lists.ReadBytes(&feature->list)) return Outcome::kDamaged;
  }
  return Outcome::kFeature;
}

int64_t CountValues(const Feature& feature) {
  int64_t count = 0;
  bool is_valid = true;
  switch (feature.kind) {
    case FeatureKind::kBytes:
      is_valid = ForEachBytes(feature.list, [&](std::string_view) { ++count; });
      break;
    case FeatureKind::kFloat:
      is_valid = ForEachFloats(feature.list, [&](std::string_view values) {
        count += static_cast<int64_t>(values.size() / sizeof(float));
      });
      break;
    case FeatureKind::kInt64:
      is_valid = ForEachInt64(feature.list, [&](int64_t) { ++count; });
      break;
    case FeatureKind::kNone:
      break;
  }
  return is_valid ? count : -1;
}

void ExampleBuilder::AddFeature(std::string_view name, FeatureKind kind) {
  // Sizes come first in a message, so they are computed from the inside out.
  const size_t feature = BytesFieldSize(list_.size());
  AppendTag(1, WireReader::kBytes, &features_);
  AppendVarint(BytesFieldSize(name.size()) + BytesFieldSize(feature), &features_);
  AppendBytesField(1, name, &features_);
  AppendTag(2, WireReader::kBytes, &features_);
  AppendVarint(feature, &features_);
  AppendBytesField(static_cast<uint32_t>(kind), list_, &features_);
  list_.clear();
}

void ExampleBuilder::AddBytes(std::string_view name, const std::string_view* values,
                              int64_t count) {
  for (int64_t i = 0; i < count; ++i) AppendBytesField(1, values[i], &list_);
  AddFeature(name, FeatureKind::kBytes);
}

void ExampleBuilder::AddFloats(std::string_view name, const float* values,
                               int64_t count) {
  if (count > 0) {
    AppendTag(1, WireReader::kBytes, &list_);
    AppendVarint(static_cast<uint64_t>(count) * sizeof(float), &list_);
  }
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, values + i, sizeof(bits));
    bits = arrow::bit_util::ToLittleEndian(bits);
    list_.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  }
  AddFeature(name, FeatureKind::kFloat);
}

void ExampleBuilder::AddInt64(std::string_view name, const int64_t* values,
                              int64_t count) {
  if (count > 0) {
    size_t num_bytes = 0;
    for (int64_t i = 0; i < count; ++i) {
      num_bytes += VarintBytes(static_cast<uint64_t>(values[i]));
    }
    AppendTag(1, WireReader::kBytes, &list_);
    AppendVarint(num_bytes, &list_);
  }
  for (int64_t i = 0; i < count; ++i) {
    AppendVarint(static_cast<uint64_t>(values[i]), &list_);
  }
  AddFeature(name, FeatureKind::kInt64);
}

std::string_view ExampleBuilder::Finish() {
  example_.clear();
  AppendBytesField(1, features_, &example_);
  features_.clear();
  return example_;
}

}  // namespace xshards::io
