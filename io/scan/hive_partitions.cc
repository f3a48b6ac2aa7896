// SPDX-License-Identifier: Apache-2.0
#include "io/scan/hive_partitions.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/exec.h>
#include <arrow/util/uri.h>

#include "io/text/time_formatting.h"
#include "io/text/time_precision.h"
#include "io/text/zone_offsets.h"

namespace xshards::io {
namespace {

// The name that Hive, Spark and Arrow use.
constexpr char kMissing[] = "__HIVE_DEFAULT_PARTITION__";

bool ReadInteger(std::string_view text, int64_t* value) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *value);
  // Others stay text, otherwise 007 would be read as 7.
  return read.ec == std::errc() && read.ptr == end && std::to_string(*value) == text;
}

// In Arrow's format, for the years that it supports.
arrow::Result<std::string> TimeText(const arrow::TimestampScalar& time) {
  const auto& type = static_cast<const arrow::TimestampType&>(*time.type);
  std::string text;
  if (type.timezone().empty() || type.timezone() == "UTC") {
    AppendTime(time.value, type.unit(), FinestOf(type.unit()), &text);
    return type.timezone().empty() ? text : text + "Z";
  }
  ARROW_ASSIGN_OR_RAISE(const auto times, arrow::MakeArrayFromScalar(time, 1));
  ARROW_RETURN_NOT_OK(ZoneOffsets(static_cast<const arrow::TimestampArray&>(*times),
                                  arrow::compute::default_exec_context()));
  ARROW_ASSIGN_OR_RAISE(const auto cast, time.CastTo(arrow::utf8()));
  return std::string(static_cast<const arrow::StringScalar&>(*cast).view());
}

// UriEscape ends at a NUL.
std::string EscapeText(std::string_view text) {
  std::string escaped;
  for (size_t nul = text.find('\0'); nul != std::string_view::npos;
       nul = text.find('\0')) {
    escaped += arrow::util::UriEscape(text.substr(0, nul)) + "%00";
    text.remove_prefix(nul + 1);
  }
  return escaped + arrow::util::UriEscape(text);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// UriUnescape ends at a NUL too.
std::string UnescapeText(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() &&
                           HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
    if (!is_escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
    i += 2;
  }
  return plain;
}

// A folder whose name starts with a dot is skipped by readers.
std::string EscapeColumn(std::string_view column) {
  const std::string escaped = EscapeText(column);
  return escaped.starts_with('.') ? "%2E" + escaped.substr(1) : escaped;
}

// Text that reads as the missing value is told from it by its first character.
std::string EscapeValue(std::string_view text) {
  return text == kMissing ? "%5F" + std::string(text.substr(1)) : EscapeText(text);
}

}  // namespace

arrow::Result<std::string> HiveFolder(const std::string& column,
                                      const arrow::Scalar& value) {
  const std::string name = EscapeColumn(column) + "=";
  if (!value.is_valid) return name + kMissing;
  if (arrow::is_string(value.type->id())) {
    return name + EscapeValue(static_cast<const arrow::BaseBinaryScalar&>(value).view());
  }
  if (value.type->id() == arrow::Type::TIMESTAMP) {
    ARROW_ASSIGN_OR_RAISE(const auto text,
                          TimeText(static_cast<const arrow::TimestampScalar&>(value)));
    return name + arrow::util::UriEscape(text);
  }
  if (value.type->id() == arrow::Type::DURATION) {
    std::string text;
    AppendDuration(static_cast<const arrow::DurationScalar&>(value).value,
                   static_cast<const arrow::DurationType&>(*value.type).unit(), &text);
    return name + arrow::util::UriEscape(text);
  }
  ARROW_ASSIGN_OR_RAISE(const auto text, value.CastTo(arrow::utf8()));
  return name +
         arrow::util::UriEscape(static_cast<const arrow::StringScalar&>(*text).view());
}

std::vector<HiveValue> HiveValues(std::string_view path) {
  std::vector<HiveValue> values;
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    const size_t equals = folder.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    HiveValue value{.column = UnescapeText(folder.substr(0, equals))};
    const std::string_view text = folder.substr(equals + 1);
    if (text != kMissing) value.value = UnescapeText(text);
    values.push_back(std::move(value));
  }
  return values;
}

std::shared_ptr<arrow::DataType> HiveType(
    const std::vector<std::optional<std::string>>& values) {
  int64_t ignored = 0;
  const bool are_integers =
      std::all_of(values.begin(), values.end(), [&](const auto& value) {
        return !value.has_value() || ReadInteger(*value, &ignored);
      });
  const bool is_missing = std::none_of(values.begin(), values.end(),
                                       [](const auto& v) { return v.has_value(); });
  return are_integers && !is_missing ? arrow::int64() : arrow::large_utf8();
}

arrow::Result<std::shared_ptr<arrow::Scalar>> ToHiveScalar(
    const HiveValue& value, const std::shared_ptr<arrow::DataType>& type) {
  if (!value.value.has_value()) return arrow::MakeNullScalar(type);
  auto scalar = arrow::Scalar::Parse(type, *value.value);
  if (!scalar.ok()) {
    return arrow::Status::Invalid("Expected ", type->ToString(), " for column '",
                                  value.column, "' in the name of a folder, got '",
                                  *value.value, "'");
  }
  return scalar;
}

}  // namespace xshards::io
