// SPDX-License-Identifier: Apache-2.0
#include "io/options/type_names.h"

#include <charconv>
#include <map>
#include <string_view>

namespace xshards::io {
namespace {

using arrow::TimeUnit;

using TypeMap = std::map<std::string, std::shared_ptr<arrow::DataType>, std::less<>>;

const TypeMap& SimpleTypes() {
  static const TypeMap kTypes = {
      {"null", arrow::null()},
      {"bool", arrow::boolean()},
      {"boolean", arrow::boolean()},
      {"int8", arrow::int8()},
      {"int16", arrow::int16()},
      {"int32", arrow::int32()},
      {"int64", arrow::int64()},
      {"int", arrow::int64()},
      {"uint8", arrow::uint8()},
      {"uint16", arrow::uint16()},
      {"uint32", arrow::uint32()},
      {"uint64", arrow::uint64()},
      {"Int8", arrow::int8()},
      {"Int16", arrow::int16()},
      {"Int32", arrow::int32()},
      {"Int64", arrow::int64()},
      {"UInt8", arrow::uint8()},
      {"UInt16", arrow::uint16()},
      {"UInt32", arrow::uint32()},
      {"UInt64", arrow::uint64()},
      {"float32", arrow::float32()},
      {"Float32", arrow::float32()},
      {"float64", arrow::float64()},
      {"Float64", arrow::float64()},
      {"float", arrow::float64()},
      {"double", arrow::float64()},
      {"str", arrow::large_utf8()},
      {"string", arrow::large_utf8()},
      {"object", arrow::large_utf8()},
      {"utf8", arrow::large_utf8()},
      {"large_utf8", arrow::large_utf8()},
      {"large_string", arrow::large_utf8()},
      {"binary", arrow::large_binary()},
      {"large_binary", arrow::large_binary()},
      {"date32", arrow::date32()},
      {"date32[day]", arrow::date32()},
      {"date64", arrow::date64()},
      {"date64[ms]", arrow::date64()},
      {"time32[s]", arrow::time32(TimeUnit::SECOND)},
      {"time32[ms]", arrow::time32(TimeUnit::MILLI)},
      {"time64[us]", arrow::time64(TimeUnit::MICRO)},
      {"time64[ns]", arrow::time64(TimeUnit::NANO)},
      {"timestamp[s]", arrow::timestamp(TimeUnit::SECOND)},
      {"timestamp[ms]", arrow::timestamp(TimeUnit::MILLI)},
      {"timestamp[us]", arrow::timestamp(TimeUnit::MICRO)},
      {"timestamp[ns]", arrow::timestamp(TimeUnit::NANO)},
      {"datetime64[s]", arrow::timestamp(TimeUnit::SECOND)},
      {"datetime64[ms]", arrow::timestamp(TimeUnit::MILLI)},
      {"datetime64[us]", arrow::timestamp(TimeUnit::MICRO)},
      {"datetime64[ns]", arrow::timestamp(TimeUnit::NANO)},
  };
  return kTypes;
}

// "decimal128(10, 2)" → 10 and 2.
bool ParseDecimal(std::string_view name, int32_t* precision, int32_t* scale) {
  constexpr std::string_view kPrefix = "decimal128(";
  if (!name.starts_with(kPrefix) || !name.ends_with(')')) return false;
  const char* const last = name.data() + name.size() - 1;
  auto parsed = std::from_chars(name.data() + kPrefix.size(), last, *precision);
  if (parsed.ec != std::errc() || parsed.ptr == last || *parsed.ptr != ',') return false;
  const char* begin = parsed.ptr + 1;
  while (begin != last && *begin == ' ') ++begin;
  parsed = std::from_chars(begin, last, *scale);
  return parsed.ec == std::errc() && parsed.ptr == last;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::DataType>> TypeFromName(const std::string& name) {
  const auto found = SimpleTypes().find(name);
  if (found != SimpleTypes().end()) return found->second;
  int32_t precision = 0;
  int32_t scale = 0;
  if (ParseDecimal(name, &precision, &scale)) {
    return arrow::Decimal128Type::Make(precision, scale);
  }
  return arrow::Status::Invalid(
      "Expected a type such as int64, float64, string, bool, date32, timestamp[us] or "
      "decimal128(10, 2), got '",
      name, "'");
}

arrow::Status CheckDtype(const std::map<std::string, std::string>& dtype) {
  for (const auto& [column, type] : dtype) {
    const auto status = TypeFromName(type).status();
    if (!status.ok()) {
      return status.WithMessage("dtype of column '", column, "': ", status.message());
    }
  }
  return arrow::Status::OK();
}

std::shared_ptr<arrow::DataType> EngineType(
    const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case arrow::Type::STRING:
    case arrow::Type::STRING_VIEW:
      return arrow::large_utf8();
    case arrow::Type::BINARY_VIEW:
      return arrow::large_binary();
    case arrow::Type::DICTIONARY:
      return EngineType(static_cast<const arrow::DictionaryType&>(*type).value_type());
    default:
      return type;
  }
}

std::shared_ptr<arrow::Schema> EngineSchema(const arrow::Schema& schema) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) {
    fields.push_back(arrow::field(field->name(), EngineType(field->type())));
  }
  return arrow::schema(std::move(fields));
}

}  // namespace xshards::io
