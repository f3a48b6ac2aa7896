// SPDX-License-Identifier: Apache-2.0
#include "io/csv_times.h"

#include <chrono>

namespace xshards::io {
namespace {

constexpr size_t kDate = 10;     // 2024-01-31
constexpr size_t kMinutes = 16;  // 2024-01-31 12:00
constexpr size_t kSeconds = 19;  // 2024-01-31 12:00:00
constexpr size_t kMaxFraction = 6;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number that the digits [begin, begin + count) of a text are; -1 where one is none.
int Digits(std::string_view text, size_t begin, size_t count) {
  int number = 0;
  for (const char c : text.substr(begin, count)) {
    if (!IsDigit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

std::optional<TimeText> TimeText::Like(std::string_view first) {
  TimeText times;
  std::string_view rest = first;
  if (rest.size() > kDate && rest.ends_with('Z')) {
    times.is_utc_ = true;
    rest.remove_suffix(1);
  }
  const size_t point = rest.find('.');
  if (point != std::string_view::npos) {
    if (point != kSeconds || rest.size() == point + 1) return std::nullopt;
    times.has_fraction_ = true;
    rest = rest.substr(0, point);
  }
  if (rest.size() != kDate && rest.size() != kMinutes && rest.size() != kSeconds) {
    return std::nullopt;
  }
  times.length_ = rest.size();
  if (rest.size() > kDate) {
    times.between_ = rest[kDate];
    if (times.between_ != ' ' && times.between_ != 'T') return std::nullopt;
  } else if (times.is_utc_) {
    return std::nullopt;
  }
  if (!times.Read(first).has_value()) return std::nullopt;
  return times;
}

std::shared_ptr<arrow::DataType> TimeText::type() const {
  return arrow::timestamp(arrow::TimeUnit::MICRO, is_utc_ ? "UTC" : "");
}

std::optional<int64_t> TimeText::Read(std::string_view text) const {
  if (is_utc_) {
    if (!text.ends_with('Z')) return std::nullopt;
    text.remove_suffix(1);
  }
  int64_t fraction = 0;
  if (has_fraction_) {
    const size_t digits = text.size() > kSeconds ? text.size() - kSeconds - 1 : 0;
    if (digits == 0 || digits > kMaxFraction || text[kSeconds] != '.') {
      return std::nullopt;
    }
    fraction = Digits(text, kSeconds + 1, digits);
    if (fraction < 0) return std::nullopt;
    for (size_t i = digits; i < kMaxFraction; ++i) fraction *= 10;
    text = text.substr(0, kSeconds);
  }
  if (text.size() != length_ || text[4] != '-' || text[7] != '-') return std::nullopt;
  const int year = Digits(text, 0, 4);
  const int month = Digits(text, 5, 2);
  const int day = Digits(text, 8, 2);
  if (year < 0 || month < 0 || day < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  int64_t seconds =
      std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86400};
  if (length_ > kDate) {
    if (text[kDate] != between_ || text[13] != ':') return std::nullopt;
    const int hour = Digits(text, 11, 2);
    const int minute = Digits(text, 14, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return std::nullopt;
    seconds += hour * 3600 + minute * 60;
  }
  if (length_ == kSeconds) {
    const int second = Digits(text, 17, 2);
    if (text[16] != ':' || second < 0 || second > 59) return std::nullopt;
    seconds += second;
  }
  return seconds * 1000000 + fraction;
}

std::optional<TimeText> TimesOf(const std::string& column, const CsvOptions& options) {
  const auto first = options.times.find(column);
  return first == options.times.end() ? std::nullopt : TimeText::Like(first->second);
}

bool IsNoTime(std::string_view text) {
  return text == "NaT" || text == "nat" || text == "NAT";
}

CsvKinds TimeKindsOf(const TimeText& times, const CsvValues& values, const CsvRows& rows,
                     int64_t column, int64_t num_rows) {
  CsvKinds kinds = 0;
  std::string scratch;
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto field = rows.Field(row, column);
    const auto value = values.IsEscaped(field) ? values.Unescape(field, &scratch) : field;
    CsvKind kind = CsvKind::kText;
    if (values.missing().Contains(value) || IsNoTime(value)) {
      kind = CsvKind::kMissing;
    } else if (times.Read(value).has_value()) {
      kind = CsvKind::kInteger;
    }
    kinds |= static_cast<CsvKinds>(kind);
  }
  return kinds;
}

std::shared_ptr<arrow::Field> TimeFieldOf(const TimeText& times, CsvKinds kinds,
                                          const std::shared_ptr<arrow::Field>& field) {
  const bool has_text = (kinds & static_cast<CsvKinds>(CsvKind::kText)) != 0;
  return field->WithType(has_text ? arrow::large_utf8() : times.type());
}

}  // namespace xshards::io
