// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "io/json/simdjson_internal.h"
#include "io/json/value_parser.h"

namespace xshards::io {

// What the readers of records and of documents share: values of simdjson's On-Demand API,
// all of whose bytes are checked. Only files that see simdjson's header include this.

static_assert(kJsonPadding >= static_cast<int64_t>(simdjson::SIMDJSON_PADDING));

inline bool IsJsonBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The end of a scalar, whose token extends to the next one.
inline const char* JsonScalarEnd(std::string_view token) {
  const char* end = token.data() + token.size();
  while (IsJsonBlank(end[-1])) --end;
  return end;
}

/// Checks values with an allocated parser. Functions return the position after a value,
/// or nullptr and set the fault.
class JsonValueReader {
 protected:
  using Value = simdjson::ondemand::value;
  using Object = simdjson::ondemand::object;

  /// Read each member of an object by `read(key, value)`; keys are as written.
  template <typename ReadMember>
  const char* Members(Object& object, const char* brace, ReadMember read);
  /// Read each item of an array by `read(value)`.
  template <typename ReadItem>
  const char* Items(Value& value, const char* bracket, ReadItem read);
  template <typename ReadItem>
  const char* ItemsOf(simdjson::ondemand::array& array, const char* bracket,
                      ReadItem read);

  /// Unescape a string that has a closing quote into `out`. Returns the end of the
  /// output; nullptr if an escape is invalid.
  char* Unescape(const char* begin, char* out);
  char* UnescapeToScratch(std::string_view text);
  /// Unescape a string in place; false if an escape is invalid.
  bool UnescapeText(std::string_view* text);
  static bool HasEscape(std::string_view text) {
    return text.find('\\') != std::string_view::npos;
  }

  /// Take a string, without its quotes and as written. simdjson would skip a string and a
  /// colon after it as a key.
  static std::string_view TakeString(Value& value);
  const char* CheckString(Value& value);
  const char* CheckValue(Value& value, int depth);
  const char* CheckArray(Value& value, int depth);
  const char* CheckObject(Value& value, int depth);
  const char* TakeNumber(Value& value, JsonNumberValue* number);
  const char* TooDeep(const char* p) {
    return fault_->Set(p, "values nested at most 1024 deep");
  }

  simdjson::ondemand::parser parser_;
  JsonFault* fault_ = nullptr;

 private:
  const char* ReadNumber(std::string_view token, JsonNumberValue* number);
  const char* MemberFault(const char* p, bool is_first);

  std::string scratch_;
};

template <typename ReadMember>
const char* JsonValueReader::Members(Object& object, const char* brace, ReadMember read) {
  const char* end = brace + 1;  // of the valid part
  for (auto next : object) {
    simdjson::ondemand::field member;
    if (std::move(next).get(member) != simdjson::SUCCESS) {
      return MemberFault(end, end == brace + 1);
    }
    end = read(member.escaped_key(), member.value());
    if (end == nullptr) return nullptr;
  }
  return SkipJsonBlanks(end, true) + 1;
}

template <typename ReadItem>
const char* JsonValueReader::Items(Value& value, const char* bracket, ReadItem read) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return fault_->Set(bracket, "an array");
  }
  return ItemsOf(array, bracket, read);
}

template <typename ReadItem>
const char* JsonValueReader::ItemsOf(simdjson::ondemand::array& array,
                                     const char* bracket, ReadItem read) {
  const char* end = bracket + 1;
  for (auto next : array) {
    Value item;
    if (std::move(next).get(item) != simdjson::SUCCESS) {
      return fault_->Set(SkipJsonBlanks(end, true), "',' or ']'");
    }
    end = read(item);
    if (end == nullptr) return nullptr;
  }
  return SkipJsonBlanks(end, true) + 1;
}

// Name the fault in an object after its opening brace or after one of its values.
inline const char* JsonValueReader::MemberFault(const char* p, bool is_first) {
  p = SkipJsonBlanks(p, true);
  if (!is_first) {
    if (*p != ',') return fault_->Set(p, "',' or '}'");
    p = SkipJsonBlanks(p + 1, true);
  }
  return fault_->Set(p, *p == '"' ? "':' after the key" : "a key in quotes");
}

inline char* JsonValueReader::Unescape(const char* begin, char* out) {
  auto* end = reinterpret_cast<uint8_t*>(out);
  const simdjson::ondemand::raw_json_string text(reinterpret_cast<const uint8_t*>(begin));
  return parser_.unescape(text, end, false).error() == simdjson::SUCCESS
             ? reinterpret_cast<char*>(end)
             : nullptr;
}

inline char* JsonValueReader::UnescapeToScratch(std::string_view text) {
  const size_t room = text.size() + static_cast<size_t>(kJsonPadding);
  if (scratch_.size() < room) scratch_.resize(2 * room);
  return Unescape(text.data(), scratch_.data());
}

inline bool JsonValueReader::UnescapeText(std::string_view* text) {
  if (!HasEscape(*text)) return true;
  const char* const end = UnescapeToScratch(*text);
  if (end == nullptr) return fault_->Set(text->data() - 1, kJsonEscapes) != nullptr;
  *text = {scratch_.data(), static_cast<size_t>(end - scratch_.data())};
  return true;
}

inline std::string_view JsonValueReader::TakeString(Value& value) {
  const std::string_view token = value.raw_json_token();
  (void)value.get_raw_json_string().error();
  const char* const end = JsonScalarEnd(token);
  return {token.data() + 1, static_cast<size_t>(end - token.data()) - 2};
}

inline const char* JsonValueReader::CheckString(Value& value) {
  std::string_view text = TakeString(value);
  const char* const end = text.data() + text.size() + 1;
  return UnescapeText(&text) ? end : nullptr;
}

inline const char* JsonValueReader::ReadNumber(std::string_view token,
                                               JsonNumberValue* number) {
  const char* const end = ReadJsonNumber(token.data(), number, fault_);
  if (end == nullptr || end == JsonScalarEnd(token)) return end;
  return fault_->Set(end, "the end of a number");
}

// Also a number that simdjson does not accept: NaN, infinite, or beyond 64 bits.
inline const char* JsonValueReader::TakeNumber(Value& value, JsonNumberValue* number) {
  using Type = simdjson::ondemand::number_type;
  const std::string_view token = value.raw_json_token();
  simdjson::ondemand::number read;
  if (value.get_number().get(read) != simdjson::SUCCESS) return ReadNumber(token, number);
  switch (read.get_number_type()) {
    case Type::signed_integer:
      number->integer = read.get_int64();
      break;
    case Type::unsigned_integer:
      number->kind = JsonNumber::kUInt64;
      number->integer = static_cast<int64_t>(read.get_uint64());
      break;
    default:
      number->kind = JsonNumber::kDouble;
      number->real = read.get_double();
  }
  return JsonScalarEnd(token);
}

inline const char* JsonValueReader::CheckObject(Value& value, int depth) {
  const char* const p = value.raw_json_token().data();
  Object object;
  if (depth == 0) return TooDeep(p);
  if (value.get_object().get(object) != simdjson::SUCCESS) {
    return fault_->Set(p, "an object");
  }
  return Members(object, p, [&](std::string_view key, Value& member) {
    return UnescapeText(&key) ? CheckValue(member, depth - 1) : nullptr;
  });
}

inline const char* JsonValueReader::CheckArray(Value& value, int depth) {
  const char* const p = value.raw_json_token().data();
  if (depth == 0) return TooDeep(p);
  return Items(value, p, [&](Value& item) { return CheckValue(item, depth - 1); });
}

inline const char* JsonValueReader::CheckValue(Value& value, int depth) {
  const std::string_view token = value.raw_json_token();
  const char* const p = token.data();
  switch (*p) {
    case '"':
      return CheckString(value);
    case '{':
      return CheckObject(value, depth);
    case '[':
      return CheckArray(value, depth);
    case 't':
    case 'f':
      if (value.get_bool().error() != simdjson::SUCCESS) return fault_->Set(p, "a value");
      return JsonScalarEnd(token);
    case 'n':
      if (value.is_null().error() != simdjson::SUCCESS) return fault_->Set(p, "a value");
      return JsonScalarEnd(token);
    default: {
      JsonNumberValue number;
      return TakeNumber(value, &number);
    }
  }
}

}  // namespace xshards::io
