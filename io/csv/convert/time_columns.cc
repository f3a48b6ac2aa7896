// SPDX-License-Identifier: Apache-2.0
#include "io/csv/convert/time_columns.h"

namespace xshards::io {
namespace {

CsvKinds KindsOf(const CsvTime& time) {
  CsvKinds kinds = BitOf(time.is_fine ? CsvKind::kFloat : CsvKind::kInteger);
  if (!InUnit(time, arrow::TimeUnit::NANO).has_value()) kinds |= BitOf(CsvKind::kHuge);
  return kinds;
}

}  // namespace

std::optional<TimeFormat> TimesOf(const std::string& column, const CsvOptions& options) {
  const auto format = options.times.find(column);
  return format == options.times.end() ? std::nullopt : TimeFormat::Make(format->second);
}

bool IsNoTime(std::string_view text) {
  return text.empty() || text == "NaT" || text == "nat" || text == "NAT" ||
         text == "NaN" || text == "nan" || text == "NAN";
}

std::optional<int64_t> InUnit(const CsvTime& time, arrow::TimeUnit::type unit) {
  int64_t value = 0;
  switch (unit) {
    case arrow::TimeUnit::MICRO:
      if (time.is_fine) return std::nullopt;
      return time.seconds * 1000000 + time.nanoseconds / 1000;
    case arrow::TimeUnit::NANO:
      if (__builtin_mul_overflow(time.seconds, int64_t{1000000000}, &value) ||
          __builtin_add_overflow(value, int64_t{time.nanoseconds}, &value)) {
        return std::nullopt;
      }
      return value;
    default:
      return std::nullopt;
  }
}

CsvKinds TimeKindsOf(const TimeFormat& times, const CsvValues& values,
                     const CsvRows& rows, int64_t column, int64_t num_rows) {
  CsvKinds kinds = 0;
  std::string scratch;
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto field = rows.Field(row, column);
    const auto value = values.IsEscaped(field) ? values.Unescape(field, &scratch) : field;
    if (values.missing().Contains(value) || IsNoTime(value)) {
      kinds |= BitOf(CsvKind::kMissing);
    } else if (const auto time = times.Read(value); time.has_value()) {
      kinds |= KindsOf(*time);
    } else {
      kinds |= BitOf(CsvKind::kText);
    }
  }
  return kinds;
}

std::shared_ptr<arrow::Field> TimeFieldOf(const TimeFormat& times, CsvKinds kinds,
                                          const std::shared_ptr<arrow::Field>& field) {
  const auto has = [kinds](CsvKind kind) { return (kinds & BitOf(kind)) != 0; };
  if (has(CsvKind::kText) || (has(CsvKind::kFloat) && has(CsvKind::kHuge))) {
    return field->WithType(arrow::large_utf8());
  }
  if (kinds == BitOf(CsvKind::kMissing)) {
    return field->WithType(arrow::timestamp(arrow::TimeUnit::SECOND));
  }
  const auto unit = has(CsvKind::kFloat) ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO;
  return field->WithType(arrow::timestamp(unit, times.is_utc() ? "UTC" : ""));
}

}  // namespace xshards::io
