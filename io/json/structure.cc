// SPDX-License-Identifier: Apache-2.0
#include "io/json/structure.h"

#include <charconv>
#include <utility>

namespace xshards::io {
namespace {

// Types nested deeper become text, as few programs can work with them.
constexpr int kTypeDepth = 32;

// A number and what ends it.
void EncodeNumber(size_t number, std::string* out) {
  *out += std::to_string(number) + ' ';
}

bool DecodeNumber(std::string_view* bytes, size_t* number) {
  const char* const end = bytes->data() + bytes->size();
  const auto read = std::from_chars(bytes->data(), end, *number);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != ' ') return false;
  bytes->remove_prefix(static_cast<size_t>(read.ptr - bytes->data()) + 1);
  return true;
}

}  // namespace

JsonShape JsonShape::OfRecords() {
  JsonShape shape;
  shape.is_of_records_ = true;
  return shape;
}

void JsonShape::AddNumber(const JsonNumberValue& number) {
  switch (number.kind) {
    case JsonNumber::kInt64:
      forms_ |= number.integer < 0 ? kInteger | kNegative : kInteger;
      break;
    case JsonNumber::kUInt64:
      forms_ |= kLarge;
      break;
    case JsonNumber::kHuge:
      forms_ |= kHuge;
      break;
    case JsonNumber::kDouble:
      forms_ |= kReal;
      break;
  }
}

JsonShape& JsonShape::AddList() {
  forms_ |= kList;
  return *ItemShape();
}

JsonShape* JsonShape::ItemShape() {
  if (item_ == nullptr) item_.reset(new JsonShape());
  return item_.get();
}

JsonShape* JsonShape::MemberFor(std::string_view key) {
  if ((forms_ & kCrowd) != 0) return nullptr;
  if (next_ < keys_.size() && keys_[next_] == key) return members_[next_++].get();
  const auto [entry, is_new] = position_of_.emplace(key, keys_.size());
  if (is_new) {
    keys_.emplace_back(key);
    members_.emplace_back(new JsonShape());
  }
  next_ = entry->second + 1;
  if (is_of_records_ || keys_.size() <= kMaxMembers) return members_[entry->second].get();
  ForgetMembers();
  return nullptr;
}

void JsonShape::ForgetMembers() {
  forms_ |= kCrowd;
  keys_.clear();
  members_.clear();
  position_of_.clear();
}

void JsonShape::Merge(const JsonShape& other) {
  forms_ |= other.forms_;
  if ((forms_ & kCrowd) != 0) ForgetMembers();
  if (other.item_ != nullptr) ItemShape()->Merge(*other.item_);
  for (size_t i = 0; i < other.keys_.size(); ++i) {
    JsonShape* const member = MemberFor(other.keys_[i]);
    if (member != nullptr) member->Merge(*other.members_[i]);
  }
}

std::shared_ptr<arrow::DataType> JsonShape::ToType(int depth) const {
  constexpr uint16_t kIntegers = kInteger | kNegative | kLarge;
  if (forms_ == 0) return arrow::float64();
  if (forms_ == kBool) return arrow::boolean();
  if (forms_ == kText) return arrow::large_utf8();
  if ((forms_ & ~(kIntegers | kReal)) == 0) {
    // A double would not distinguish the largest integers, and no integer type holds them
    // all. Floats do not change that, otherwise types would depend on the order of
    // values.
    if ((forms_ & kLarge) != 0 && (forms_ & kNegative) != 0) return nullptr;
    if ((forms_ & kReal) != 0) return arrow::float64();
    return (forms_ & kLarge) == 0 ? arrow::int64() : arrow::uint64();
  }
  if (depth == 0) return nullptr;
  if (forms_ == kList) {
    auto item = item_->ToType(depth - 1);
    return item == nullptr ? nullptr : arrow::list(std::move(item));
  }
  if (forms_ != kObject) return nullptr;
  arrow::FieldVector fields;
  for (size_t i = 0; i < keys_.size(); ++i) {
    auto type = members_[i]->ToType(depth - 1);
    if (type == nullptr) return nullptr;
    fields.push_back(arrow::field(keys_[i], std::move(type)));
  }
  return arrow::struct_(fields);
}

arrow::FieldVector JsonShape::ToFields() const {
  arrow::FieldVector fields;
  for (size_t i = 0; i < keys_.size(); ++i) {
    auto type = members_[i]->ToType(kTypeDepth);
    fields.push_back(type == nullptr ? JsonTextField(keys_[i])
                                     : arrow::field(keys_[i], std::move(type)));
  }
  return fields;
}

std::string JsonShape::Encode() const {
  std::string bytes;
  EncodeTo(&bytes);
  return bytes;
}

void JsonShape::EncodeTo(std::string* out) const {
  EncodeNumber(forms_, out);
  if ((forms_ & kList) != 0) item_->EncodeTo(out);
  EncodeNumber(keys_.size(), out);
  for (size_t i = 0; i < keys_.size(); ++i) {
    EncodeNumber(keys_[i].size(), out);
    *out += keys_[i];
    members_[i]->EncodeTo(out);
  }
}

arrow::Result<JsonShape> JsonShape::Decode(std::string_view bytes) {
  JsonShape shape = OfRecords();
  if (!shape.DecodeFrom(&bytes, kJsonDepth + 1) || !bytes.empty()) {
    return arrow::Status::Invalid("Expected an encoded shape of JSON values, got ",
                                  bytes.size(), " bytes of something else");
  }
  return shape;
}

bool JsonShape::DecodeFrom(std::string_view* bytes, int depth) {
  size_t forms = 0;
  if (depth < 0 || !DecodeNumber(bytes, &forms)) return false;
  forms_ = static_cast<uint16_t>(forms);
  if ((forms_ & kList) != 0 && !ItemShape()->DecodeFrom(bytes, depth - 1)) return false;
  size_t num_keys = 0;
  if (!DecodeNumber(bytes, &num_keys)) return false;
  for (size_t i = 0; i < num_keys; ++i) {
    size_t size = 0;
    if (!DecodeNumber(bytes, &size) || size > bytes->size()) return false;
    const std::string key(bytes->substr(0, size));
    bytes->remove_prefix(size);
    JsonShape* const member = MemberFor(key);
    if (member == nullptr || !member->DecodeFrom(bytes, depth - 1)) return false;
  }
  return true;
}

}  // namespace xshards::io
