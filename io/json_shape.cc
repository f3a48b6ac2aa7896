// SPDX-License-Identifier: Apache-2.0
#include "io/json_shape.h"

#include <utility>

#include <arrow/util/key_value_metadata.h>

namespace xshards::io {
namespace {

// As python/xshards/_marks.py has it.
constexpr char kMark[] = "xshards.opaque";
constexpr char kJsonMark[] = "json";

// Types nested deeper become text, as few programs can work with them.
constexpr int kTypeDepth = 32;

}  // namespace

bool IsJsonText(const arrow::Field& field) {
  if (field.metadata() == nullptr) return false;
  const auto mark = field.metadata()->Get(kMark);
  return mark.ok() && *mark == kJsonMark;
}

std::shared_ptr<arrow::Field> JsonTextField(const std::string& name) {
  return arrow::field(name, arrow::large_utf8(), /*nullable=*/true,
                      arrow::key_value_metadata({kMark}, {kJsonMark}));
}

const char* JsonShape::Observe(const char* p, bool across_lines, JsonFault* fault) {
  return ObserveValue(p, across_lines, kJsonDepth, fault);
}

const char* JsonShape::ObserveValue(const char* p, bool across_lines, int depth,
                                    JsonFault* fault) {
  switch (*p) {
    case '{':
    case '[':
      if (depth <= 0) return fault->Set(p, "values nested at most 1024 deep");
      return *p == '{' ? ObserveObject(p + 1, across_lines, depth - 1, fault)
                       : ObserveList(p + 1, across_lines, depth - 1, fault);
    case '"':
      forms_ |= kText;
      break;
    case 't':
    case 'f':
      forms_ |= kBool;
      break;
    case 'n':
      break;
    default: {
      JsonNumberValue number;
      p = ReadJsonNumber(p, &number, fault);
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
      return p;
    }
  }
  return SkipJsonValue(p, across_lines, depth, fault);
}

const char* JsonShape::ObserveList(const char* p, bool across_lines, int depth,
                                   JsonFault* fault) {
  forms_ |= kList;
  if (item_ == nullptr) item_ = std::make_unique<JsonShape>();
  p = SkipJsonBlanks(p, across_lines);
  if (*p == ']') return p + 1;
  while (true) {
    p = item_->ObserveValue(p, across_lines, depth, fault);
    if (p == nullptr) return nullptr;
    p = SkipJsonBlanks(p, across_lines);
    if (*p == ']') return p + 1;
    if (*p != ',') return fault->Set(p, "',' or ']'");
    p = SkipJsonBlanks(p + 1, across_lines);
  }
}

const char* JsonShape::ObserveObject(const char* p, bool across_lines, int depth,
                                     JsonFault* fault) {
  forms_ |= kObject;
  p = SkipJsonBlanks(p, across_lines);
  if (*p == '}') return p + 1;
  std::string key;
  while (true) {
    if (*p != '"') return fault->Set(p, "a key in quotes");
    key.clear();
    p = ReadJsonString(p, &key, fault);
    if (p == nullptr) return nullptr;
    p = SkipJsonBlanks(p, across_lines);
    if (*p != ':') return fault->Set(p, "':'");
    p = SkipJsonBlanks(p + 1, across_lines);
    p = AddKey(key)->ObserveValue(p, across_lines, depth, fault);
    if (p == nullptr) return nullptr;
    p = SkipJsonBlanks(p, across_lines);
    if (*p == '}') return p + 1;
    if (*p != ',') return fault->Set(p, "',' or '}'");
    p = SkipJsonBlanks(p + 1, across_lines);
  }
}

JsonShape* JsonShape::AddKey(const std::string& key) {
  forms_ |= kObject;
  const auto [entry, is_new] = position_of_.emplace(key, keys_.size());
  if (is_new) {
    keys_.push_back(key);
    members_.push_back(std::make_unique<JsonShape>());
  }
  return members_[entry->second].get();
}

void JsonShape::Merge(const JsonShape& other) {
  forms_ |= other.forms_;
  if (other.item_ != nullptr) {
    if (item_ == nullptr) item_ = std::make_unique<JsonShape>();
    item_->Merge(*other.item_);
  }
  for (size_t i = 0; i < other.keys_.size(); ++i) {
    AddKey(other.keys_[i])->Merge(*other.members_[i]);
  }
}

void JsonShape::Merge(const arrow::Field& field) {
  switch (field.type()->id()) {
    case arrow::Type::BOOL:
      forms_ |= kBool;
      break;
    case arrow::Type::INT64:
      forms_ |= kInteger | kNegative;
      break;
    case arrow::Type::UINT64:
      forms_ |= kInteger | kLarge;
      break;
    case arrow::Type::DOUBLE:
      forms_ |= kReal;
      break;
    case arrow::Type::LIST:
      forms_ |= kList;
      if (item_ == nullptr) item_ = std::make_unique<JsonShape>();
      item_->Merge(*field.type()->field(0));
      break;
    case arrow::Type::STRUCT:
      forms_ |= kObject;
      for (const auto& member : field.type()->fields()) {
        AddKey(member->name())->Merge(*member);
      }
      break;
    default:
      forms_ |= IsJsonText(field) ? kAny : kText;
  }
}

std::shared_ptr<arrow::DataType> JsonShape::ToType(int depth) const {
  constexpr uint16_t kIntegers = kInteger | kNegative | kLarge;
  if (forms_ == 0) return arrow::float64();
  if (forms_ == kBool) return arrow::boolean();
  if (forms_ == kText) return arrow::large_utf8();
  if ((forms_ & ~(kIntegers | kReal)) == 0) {
    if ((forms_ & kReal) != 0) return arrow::float64();
    if ((forms_ & kLarge) == 0) return arrow::int64();
    return (forms_ & kNegative) == 0 ? arrow::uint64() : nullptr;
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
  return arrow::struct_(std::move(fields));
}

std::shared_ptr<arrow::Field> JsonShape::ToField(const std::string& name) const {
  auto type = ToType(kTypeDepth);
  return type == nullptr ? JsonTextField(name) : arrow::field(name, std::move(type));
}

arrow::FieldVector JsonShape::ToFields() const {
  arrow::FieldVector fields;
  for (size_t i = 0; i < keys_.size(); ++i) {
    fields.push_back(members_[i]->ToField(keys_[i]));
  }
  return fields;
}

}  // namespace xshards::io
