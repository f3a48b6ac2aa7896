// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/time_format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <span>

#include "io/text/ascii.h"

namespace xshards::io {
namespace {

constexpr size_t kDate = 10;     // 2024-01-31
constexpr size_t kMinutes = 16;  // 2024-01-31 12:00
constexpr size_t kSeconds = 19;  // 2024-01-31 12:00:00
constexpr size_t kMaxFraction = 9;
constexpr size_t kMicroseconds = 6;

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
constexpr std::array<std::string_view, 2> kHalves = {"am", "pm"};
constexpr size_t kShortName = 3;

// The ASCII characters that \s of Python's regular expressions matches.
bool IsRegexSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 28 && c < 32);
}
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// The number in the first digits of a text; -1 if there are fewer digits.
int Digits(std::string_view text, size_t count) {
  if (text.size() < count) return -1;
  int number = 0;
  for (const char c : text.substr(0, count)) {
    if (!IsAsciiDigit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

bool StartsWith(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(),
                    [](char a, char b) { return a == Lower(b); });
}

// Digits of a fraction of a second as nanoseconds.
int32_t Nanoseconds(std::string_view digits) {
  int32_t fraction = Digits(digits, digits.size());
  for (size_t i = digits.size(); i < kMaxFraction; ++i) fraction *= 10;
  return fraction;
}

std::optional<int64_t> DaysOf(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1 || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// A number to read: its range, and where it goes.
struct Number {
  int lowest;
  int highest;
  int* value;
};

}  // namespace

struct TimeFormat::Fields {
  int year = 1900;
  int month = 1;
  int day = 1;
  int hour = 0;
  std::optional<int> hour12;
  int half = 0;
  int minute = 0;
  int second = 0;
  std::string_view fraction;

  std::optional<CsvTime> ToTime() const {
    const auto days = DaysOf(year, month, day);
    if (!days.has_value()) return std::nullopt;
    const int hours = hour12.has_value() ? *hour12 % 12 + 12 * half : hour;
    return CsvTime{.seconds = *days * 86400 + hours * 3600 + minute * 60 + second,
                   .nanoseconds = Nanoseconds(fraction),
                   .is_fine = fraction.size() > kMicroseconds};
  }
};

std::optional<TimeFormat::Kind> TimeFormat::KindOf(char directive) {
  switch (directive) {
    case 'Y':
      return Kind::kYear;
    case 'y':
      return Kind::kShortYear;
    case 'm':
      return Kind::kMonth;
    case 'B':
      return Kind::kMonthName;
    case 'b':
      return Kind::kShortMonthName;
    case 'd':
      return Kind::kDay;
    case 'A':
      return Kind::kWeekdayName;
    case 'a':
      return Kind::kShortWeekdayName;
    case 'H':
      return Kind::kHour;
    case 'I':
      return Kind::kHour12;
    case 'p':
      return Kind::kHalf;
    case 'M':
      return Kind::kMinute;
    case 'S':
      return Kind::kSecond;
    case 'f':
      return Kind::kFraction;
    case 'z':
      return Kind::kZone;
    default:
      return std::nullopt;
  }
}

std::optional<TimeFormat> TimeFormat::Make(std::string_view format) {
  TimeFormat made;
  std::set<Kind> seen;
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (static_cast<signed char>(c) <= 0) return std::nullopt;
    if (IsRegexSpace(c)) {
      if (i == 0 || !IsRegexSpace(format[i - 1])) made.parts_.push_back({Kind::kBlanks});
      continue;
    }
    if (c != '%' || format.substr(i).starts_with("%%")) {
      made.parts_.push_back({Kind::kLiteral, Lower(c)});
      if (c == '%') ++i;
      continue;
    }
    const auto kind = ++i < format.size() ? KindOf(format[i]) : std::nullopt;
    if (!kind.has_value() || !seen.insert(*kind).second) return std::nullopt;
    made.parts_.push_back({*kind});
  }
  const bool has_year = seen.contains(Kind::kYear) != seen.contains(Kind::kShortYear);
  const auto has_both = [&](Kind a, Kind b) {
    return seen.contains(a) && seen.contains(b);
  };
  const bool has_two_months = has_both(Kind::kMonth, Kind::kMonthName) ||
                              has_both(Kind::kMonth, Kind::kShortMonthName) ||
                              has_both(Kind::kMonthName, Kind::kShortMonthName);
  if (!has_year || has_two_months || has_both(Kind::kHour, Kind::kHour12)) {
    return std::nullopt;
  }
  // A character before a year could be its sign.
  if (format.front() != '%') return std::nullopt;
  made.is_utc_ = seen.contains(Kind::kZone);
  made.RecogniseIso(format);
  return made;
}

void TimeFormat::RecogniseIso(std::string_view format) {
  constexpr std::string_view kDateFormat = "%Y-%m-%d";
  if (!format.starts_with(kDateFormat)) return;
  std::string_view rest = format.substr(kDateFormat.size());
  if (rest.ends_with("%z")) rest.remove_suffix(2);
  if (rest.empty()) {
    if (!is_utc_) iso_length_ = kDate;
    return;
  }
  const char between = rest.front();
  rest.remove_prefix(1);
  if (between != 'T' && between != ' ') return;
  iso_between_ = between;
  iso_has_fraction_ = rest == "%H:%M:%S.%f";
  if (rest == "%H:%M") iso_length_ = kMinutes;
  if (rest == "%H:%M:%S" || iso_has_fraction_) iso_length_ = kSeconds;
}

std::optional<CsvTime> TimeFormat::ReadIso(std::string_view text) const {
  if (is_utc_) {
    if (!text.ends_with('Z')) return std::nullopt;
    text.remove_suffix(1);
  }
  Fields fields;
  if (iso_has_fraction_) {
    const size_t digits = text.size() > kSeconds ? text.size() - kSeconds - 1 : 0;
    if (digits == 0 || digits > kMaxFraction || text[kSeconds] != '.') {
      return std::nullopt;
    }
    fields.fraction = text.substr(kSeconds + 1);
    if (Digits(fields.fraction, digits) < 0) return std::nullopt;
    text = text.substr(0, kSeconds);
  }
  if (text.size() != iso_length_ || text[4] != '-' || text[7] != '-') return std::nullopt;
  fields.year = Digits(text, 4);
  fields.month = Digits(text.substr(5), 2);
  fields.day = Digits(text.substr(8), 2);
  if (fields.year < 0 || fields.month < 0 || fields.day < 0) return std::nullopt;
  if (iso_length_ > kDate) {
    if (text[kDate] != iso_between_ || text[13] != ':') return std::nullopt;
    fields.hour = Digits(text.substr(11), 2);
    fields.minute = Digits(text.substr(14), 2);
    if (fields.hour < 0 || fields.hour > 23 || fields.minute < 0 || fields.minute > 59) {
      return std::nullopt;
    }
  }
  if (iso_length_ == kSeconds) {
    fields.second = Digits(text.substr(17), 2);
    if (text[16] != ':' || fields.second < 0 || fields.second > 59) return std::nullopt;
  }
  return fields.ToTime();
}

std::optional<CsvTime> TimeFormat::Read(std::string_view text) const {
  if (iso_length_ > 0) {
    if (const auto time = ReadIso(text); time.has_value()) return time;
  }
  Fields fields;
  if (!Match(0, text, &fields)) return std::nullopt;
  return fields.ToTime();
}

// Like a regular expression: the longest match first, and shorter ones if the rest does
// not match.
bool TimeFormat::Match(size_t part, std::string_view text, Fields* fields) const {
  if (part == parts_.size()) return text.empty();
  const auto [kind, literal] = parts_[part];
  switch (kind) {
    case Kind::kLiteral:
      return !text.empty() && Lower(text.front()) == literal &&
             Match(part + 1, text.substr(1), fields);
    case Kind::kBlanks: {
      size_t count = 0;
      while (count < text.size() && IsRegexSpace(text[count])) ++count;
      for (; count > 0; --count) {
        if (Match(part + 1, text.substr(count), fields)) return true;
      }
      return false;
    }
    case Kind::kFraction: {
      size_t count = 0;
      while (count < std::min(text.size(), kMaxFraction) && IsAsciiDigit(text[count]))
        ++count;
      for (; count > 0; --count) {
        fields->fraction = text.substr(0, count);
        if (Match(part + 1, text.substr(count), fields)) return true;
      }
      return false;
    }
    case Kind::kZone:
      return MatchZone(part, text, fields);
    case Kind::kMonthName:
    case Kind::kShortMonthName:
    case Kind::kWeekdayName:
    case Kind::kShortWeekdayName:
    case Kind::kHalf:
      return MatchName(part, text, fields);
    default:
      return MatchNumber(part, text, fields);
  }
}

bool TimeFormat::MatchNumber(size_t part, std::string_view text, Fields* fields) const {
  const Kind kind = parts_[part].kind;
  const auto wanted = [&]() -> Number {
    switch (kind) {
      case Kind::kMonth:
        return {1, 12, &fields->month};
      case Kind::kDay:
        return {1, 31, &fields->day};
      case Kind::kHour:
        return {0, 23, &fields->hour};
      case Kind::kHour12:
        return {1, 12, &fields->hour12.emplace()};
      case Kind::kMinute:
        return {0, 59, &fields->minute};
      case Kind::kSecond:
        return {0, 61, &fields->second};
      default:
        return {0, 9999, &fields->year};
    }
  }();
  const auto matches = [&](int number, size_t width) {
    if (number < wanted.lowest || number > wanted.highest) return false;
    *wanted.value = number;
    return Match(part + 1, text.substr(width), fields);
  };
  if (kind == Kind::kYear) return matches(Digits(text, 4), 4);
  if (kind == Kind::kShortYear) {
    const int number = Digits(text, 2);
    return number >= 0 && matches(number + (number <= 68 ? 2000 : 1900), 2);
  }
  if (matches(Digits(text, 2), 2) || matches(Digits(text, 1), 1)) return true;
  return kind == Kind::kDay && text.starts_with(' ') &&
         matches(Digits(text.substr(1), 1), 2);
}

bool TimeFormat::MatchName(size_t part, std::string_view text, Fields* fields) const {
  const Kind kind = parts_[part].kind;
  const bool is_month = kind == Kind::kMonthName || kind == Kind::kShortMonthName;
  const bool is_short = kind == Kind::kShortMonthName || kind == Kind::kShortWeekdayName;
  std::span<const std::string_view> names = kWeekdays;
  if (is_month) names = kMonths;
  if (kind == Kind::kHalf) names = kHalves;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto name = names[i].substr(0, is_short ? kShortName : names[i].size());
    if (!StartsWith(text, name)) continue;
    if (is_month) fields->month = static_cast<int>(i) + 1;
    if (kind == Kind::kHalf) fields->half = static_cast<int>(i);
    return Match(part + 1, text.substr(name.size()), fields);
  }
  return false;
}

bool TimeFormat::MatchZone(size_t part, std::string_view text, Fields* fields) const {
  for (const std::string_view zone : {"Z", "+00:00", "-00:00", "+0000", "-0000"}) {
    if (text.starts_with(zone) && Match(part + 1, text.substr(zone.size()), fields)) {
      return true;
    }
  }
  return false;
}

}  // namespace xshards::io
