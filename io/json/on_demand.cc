// SPDX-License-Identifier: Apache-2.0
#include "io/json/on_demand.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>

#include "io/json/simdjson_internal.h"
#include "io/json/structure.h"

namespace xshards::io {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;
using Number = ondemand::number;
using NumberType = ondemand::number_type;

static_assert(kJsonPadding >= static_cast<int64_t>(simdjson::SIMDJSON_PADDING));

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The end of a scalar, whose token extends to the next one.
const char* ScalarEnd(std::string_view token) {
  const char* end = token.data() + token.size();
  while (IsBlank(end[-1])) --end;
  return end;
}

// The token of a string. simdjson would skip a string and a colon after it as a key.
std::string_view TakeString(ondemand::value& value) {
  const std::string_view token = value.raw_json_token();
  (void)value.get_raw_json_string().error();
  return token;
}

bool HasEscape(std::string_view text) {
  return text.find('\\') != std::string_view::npos;
}

// Name the fault in an object after its opening brace or after one of its values.
const char* MemberFault(const char* p, bool is_first, JsonFault* fault) {
  p = SkipJsonBlanks(p, true);
  if (!is_first) {
    if (*p != ',') return fault->Set(p, "',' or '}'");
    p = SkipJsonBlanks(p + 1, true);
  }
  return fault->Set(p, *p == '"' ? "':' after the key" : "a key in quotes");
}

// The same in an array.
const char* ItemFault(const char* p, JsonFault* fault) {
  return fault->Set(SkipJsonBlanks(p, true), "',' or ']'");
}

}  // namespace

class JsonOnDemand::Impl {
 public:
  Impl(JsonLayout layout, arrow::MemoryPool* pool) : layout_(layout), pool_(pool) {}

  // Find the record that starts at `begin` and index it.
  bool Start(const char* begin, const char* end, JsonFault* fault);
  // Check what follows the record in its text.
  const char* End(const char* p, JsonFault* fault) const {
    if (p == nullptr || layout_ == JsonLayout::kArray) return p;
    p = SkipJsonBlanks(p, false);
    return p == end_ ? p : fault->Set(p, "the end of the line");
  }

  const char* Check(JsonFault* fault) {
    fault_ = fault;
    return Members(root_, begin_, [&](std::string_view key, ondemand::value& value) {
      return UnescapeText(&key) ? CheckValue(value, kJsonDepth - 1) : nullptr;
    });
  }
  const char* Observe(JsonShape* shape, JsonFault* fault) {
    fault_ = fault;
    return ObserveMembers(*shape, root_, begin_, kJsonDepth - 1);
  }
  char* Unescape(const char* begin, char* out);
  char* UnescapeToScratch(std::string_view text);
  bool Grow(size_t bytes);

 private:
  template <typename ReadMember>
  const char* Members(ondemand::object& object, const char* brace, ReadMember read);
  template <typename ReadItem>
  const char* Items(ondemand::value& value, const char* bracket, ReadItem read);

  // Unescape a string in place; false if an escape is invalid.
  bool UnescapeText(std::string_view* text);
  const char* CheckString(ondemand::value& value);
  const char* CheckValue(ondemand::value& value, int depth);

  const char* ObserveMembers(JsonShape& shape, ondemand::object& object,
                             const char* brace, int depth);
  const char* ObserveValue(JsonShape& shape, ondemand::value& value, int depth);

  // A number that simdjson does not accept: NaN, infinite, or beyond 64 bits.
  const char* ReadNumber(std::string_view token, JsonNumberValue* number);
  const char* TooDeep(const char* p) {
    return fault_->Set(p, "values nested at most 1024 deep");
  }

  const JsonLayout layout_;
  arrow::MemoryPool* const pool_;
  // Never touched: it accounts in the budget for simdjson's allocations.
  std::unique_ptr<arrow::Buffer> reserved_;
  ondemand::parser parser_;
  ondemand::document document_;
  ondemand::object root_;
  const char* begin_ = nullptr;  // of the record: its brace
  const char* end_ = nullptr;    // of its text
  std::string scratch_;
  JsonFault* fault_ = nullptr;
};

bool JsonOnDemand::Impl::Grow(size_t bytes) {
  if (parser_.capacity() >= bytes && parser_.capacity() > 0) return true;
  const size_t capacity = std::max({bytes, 2 * parser_.capacity(), size_t{16} << 10});
  // Strings, and 32 bits per byte of text for the index.
  auto reserved = arrow::AllocateBuffer(static_cast<int64_t>(6 * capacity), pool_);
  if (!reserved.ok()) return false;
  reserved_ = reserved.MoveValueUnsafe();
  return parser_.allocate(capacity, kJsonDepth + 8) == SUCCESS;
}

bool JsonOnDemand::Impl::Start(const char* begin, const char* end, JsonFault* fault) {
  if (begin >= end || *begin != '{') {
    return fault->Set(begin, "one JSON object") != nullptr;
  }
  begin_ = begin;
  if (layout_ == JsonLayout::kArray) {
    end_ = FindJsonValueEnd(begin, end);
  } else {
    end_ = static_cast<const char*>(
        std::memchr(begin, '\n', static_cast<size_t>(end - begin)));
    if (end_ == nullptr) end_ = end;
  }
  if (end_ == nullptr) return fault->Set(end, "',' or '}'") != nullptr;
  const auto size = static_cast<size_t>(end_ - begin_);
  if (!Grow(size)) return fault->Set(begin_, "memory to index it") != nullptr;
  auto error = parser_.iterate(begin_, size, size + kJsonPadding).get(document_);
  if (error == SUCCESS) error = document_.get_object().get(root_);
  if (error == SUCCESS) return true;
  switch (error) {
    case simdjson::UTF8_ERROR:
      return fault->Set(begin_, "UTF-8") != nullptr;
    case simdjson::UNCLOSED_STRING:
    case simdjson::UNESCAPED_CHARS:
      return fault->Set(begin_, "a closing quote (control characters must be escaped)") !=
             nullptr;
    default:
      return fault->Set(end_, "',' or '}'") != nullptr;
  }
}

template <typename ReadMember>
const char* JsonOnDemand::Impl::Members(ondemand::object& object, const char* brace,
                                        ReadMember read) {
  const char* end = brace + 1;  // of the valid part
  for (auto next : object) {
    ondemand::field member;
    if (std::move(next).get(member) != SUCCESS) {
      return MemberFault(end, end == brace + 1, fault_);
    }
    end = read(member.escaped_key(), member.value());
    if (end == nullptr) return nullptr;
  }
  return SkipJsonBlanks(end, true) + 1;
}

template <typename ReadItem>
const char* JsonOnDemand::Impl::Items(ondemand::value& value, const char* bracket,
                                      ReadItem read) {
  ondemand::array array;
  if (value.get_array().get(array) != SUCCESS) return fault_->Set(bracket, "an array");
  const char* end = bracket + 1;
  for (auto next : array) {
    ondemand::value item;
    if (std::move(next).get(item) != SUCCESS) return ItemFault(end, fault_);
    end = read(item);
    if (end == nullptr) return nullptr;
  }
  return SkipJsonBlanks(end, true) + 1;
}

char* JsonOnDemand::Impl::Unescape(const char* begin, char* out) {
  if (!Grow(1)) return nullptr;
  auto* end = reinterpret_cast<uint8_t*>(out);
  const ondemand::raw_json_string text(reinterpret_cast<const uint8_t*>(begin));
  return parser_.unescape(text, end, false).error() == SUCCESS
             ? reinterpret_cast<char*>(end)
             : nullptr;
}

char* JsonOnDemand::Impl::UnescapeToScratch(std::string_view text) {
  const size_t room = text.size() + static_cast<size_t>(kJsonPadding);
  if (scratch_.size() < room) scratch_.resize(2 * room);
  return Unescape(text.data(), scratch_.data());
}

bool JsonOnDemand::Impl::UnescapeText(std::string_view* text) {
  if (!HasEscape(*text)) return true;
  const char* const end = UnescapeToScratch(*text);
  if (end == nullptr) return fault_->Set(text->data() - 1, kJsonEscapes) != nullptr;
  *text = {scratch_.data(), static_cast<size_t>(end - scratch_.data())};
  return true;
}

const char* JsonOnDemand::Impl::CheckString(ondemand::value& value) {
  const std::string_view token = TakeString(value);
  const char* const end = ScalarEnd(token);
  std::string_view text(token.data() + 1, static_cast<size_t>(end - token.data()) - 2);
  return UnescapeText(&text) ? end : nullptr;
}

const char* JsonOnDemand::Impl::ReadNumber(std::string_view token,
                                           JsonNumberValue* number) {
  const char* const end = ReadJsonNumber(token.data(), number, fault_);
  if (end == nullptr || end == ScalarEnd(token)) return end;
  return fault_->Set(end, "the end of a number");
}

const char* JsonOnDemand::Impl::CheckValue(ondemand::value& value, int depth) {
  const std::string_view token = value.raw_json_token();
  const char* const p = token.data();
  switch (*p) {
    case '"':
      return CheckString(value);
    case '{': {
      ondemand::object object;
      if (depth == 0) return TooDeep(p);
      if (value.get_object().get(object) != SUCCESS) return fault_->Set(p, "an object");
      return Members(object, p, [&](std::string_view key, ondemand::value& member) {
        return UnescapeText(&key) ? CheckValue(member, depth - 1) : nullptr;
      });
    }
    case '[':
      if (depth == 0) return TooDeep(p);
      return Items(value, p,
                   [&](ondemand::value& item) { return CheckValue(item, depth - 1); });
    case 't':
    case 'f':
      if (value.get_bool().error() != SUCCESS) return fault_->Set(p, "a value");
      return ScalarEnd(token);
    case 'n':
      if (value.is_null().error() != SUCCESS) return fault_->Set(p, "a value");
      return ScalarEnd(token);
    default: {
      if (value.get_number().error() == SUCCESS) return ScalarEnd(token);
      JsonNumberValue number;
      return ReadNumber(token, &number);
    }
  }
}

const char* JsonOnDemand::Impl::ObserveMembers(JsonShape& shape, ondemand::object& object,
                                               const char* brace, int depth) {
  shape.AddObject();
  return Members(object, brace, [&](std::string_view key, ondemand::value& value) {
    if (!UnescapeText(&key)) return static_cast<const char*>(nullptr);
    JsonShape* const member = shape.MemberFor(key);
    return member == nullptr ? CheckValue(value, depth)
                             : ObserveValue(*member, value, depth);
  });
}

const char* JsonOnDemand::Impl::ObserveValue(JsonShape& shape, ondemand::value& value,
                                             int depth) {
  const std::string_view token = value.raw_json_token();
  const char* const p = token.data();
  switch (*p) {
    case '{': {
      ondemand::object object;
      if (depth == 0) return TooDeep(p);
      if (value.get_object().get(object) != SUCCESS) return fault_->Set(p, "an object");
      return ObserveMembers(shape, object, p, depth - 1);
    }
    case '[': {
      if (depth == 0) return TooDeep(p);
      JsonShape& item_shape = shape.AddList();
      return Items(value, p, [&](ondemand::value& item) {
        return ObserveValue(item_shape, item, depth - 1);
      });
    }
    case '"':
      shape.AddText();
      return CheckString(value);
    case 't':
    case 'f':
      shape.AddBool();
      return CheckValue(value, depth);
    case 'n':
      return CheckValue(value, depth);
    default:
      break;
  }
  JsonNumberValue number;
  Number read;
  if (value.get_number().get(read) != SUCCESS) {
    const char* const end = ReadNumber(token, &number);
    if (end != nullptr) shape.AddNumber(number);
    return end;
  }
  switch (read.get_number_type()) {
    case NumberType::signed_integer:
      number.integer = read.get_int64();
      break;
    case NumberType::unsigned_integer:
      number.kind = JsonNumber::kUInt64;
      break;
    default:
      number.kind = JsonNumber::kDouble;
  }
  shape.AddNumber(number);
  return ScalarEnd(token);
}

JsonOnDemand::JsonOnDemand(JsonLayout layout, arrow::MemoryPool* pool)
    : impl_(std::make_unique<Impl>(layout, pool)) {}
JsonOnDemand::~JsonOnDemand() = default;

const char* JsonOnDemand::Check(const char* begin, const char* end, JsonFault* fault) {
  return impl_->Start(begin, end, fault) ? impl_->End(impl_->Check(fault), fault)
                                         : nullptr;
}

const char* JsonOnDemand::Observe(const char* begin, const char* end, JsonShape* shape,
                                  JsonFault* fault) {
  return impl_->Start(begin, end, fault) ? impl_->End(impl_->Observe(shape, fault), fault)
                                         : nullptr;
}

char* JsonOnDemand::Unescape(const char* begin, char* out) {
  return impl_->Unescape(begin, out);
}

bool JsonOnDemand::CheckEscapes(const char* begin, const char* end) {
  return impl_->UnescapeToScratch({begin, static_cast<size_t>(end - begin)}) != nullptr;
}

bool IsUtf8(const char* begin, const char* end) {
  return simdjson::validate_utf8(begin, static_cast<size_t>(end - begin));
}

}  // namespace xshards::io
