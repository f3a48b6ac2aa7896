// SPDX-License-Identifier: Apache-2.0
#include "io/json/on_demand.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>

#include "io/json/on_demand_values.h"
#include "io/json/structure.h"

namespace xshards::io {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

}  // namespace

class JsonOnDemand::Impl : public JsonValueReader {
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
  // Strings of the record loop, which may come before any record is indexed.
  char* UnescapeString(const char* begin, char* out) {
    return Grow(1) ? Unescape(begin, out) : nullptr;
  }
  bool CheckEscapes(std::string_view text) {
    return Grow(1) && UnescapeToScratch(text) != nullptr;
  }

 private:
  bool Grow(size_t bytes);
  const char* ObserveMembers(JsonShape& shape, ondemand::object& object,
                             const char* brace, int depth);
  const char* ObserveValue(JsonShape& shape, ondemand::value& value, int depth);

  const JsonLayout layout_;
  arrow::MemoryPool* const pool_;
  // Never touched: it accounts in the budget for simdjson's allocations.
  std::unique_ptr<arrow::Buffer> reserved_;
  ondemand::document document_;
  ondemand::object root_;
  const char* begin_ = nullptr;  // of the record: its brace
  const char* end_ = nullptr;    // of its text
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
  const char* const end = TakeNumber(value, &number);
  if (end != nullptr) shape.AddNumber(number);
  return end;
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
  return impl_->UnescapeString(begin, out);
}

bool JsonOnDemand::CheckEscapes(const char* begin, const char* end) {
  return impl_->CheckEscapes({begin, static_cast<size_t>(end - begin)});
}

bool IsUtf8(const char* begin, const char* end) {
  return simdjson::validate_utf8(begin, static_cast<size_t>(end - begin));
}

}  // namespace xshards::io
