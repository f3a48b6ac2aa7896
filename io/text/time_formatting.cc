// SPDX-License-Identifier: Apache-2.0
#include "io/text/time_formatting.h"

#include <chrono>
#include <cstdlib>

#include "io/text/number_formatting.h"

namespace xshards::io {

namespace {

constexpr int64_t kSecondsPerDay = 24 * 60 * 60;

// Days, which may be negative, and the non-negative rest.
struct TimeParts {
  TimeParts(int64_t ticks, arrow::TimeUnit::type unit) {
    const int64_t per_second = TicksPerSecond(unit);
    const int64_t per_day = per_second * kSecondsPerDay;
    int64_t rest = ticks % per_day;
    days = ticks / per_day;
    if (rest < 0) {
      rest += per_day;
      --days;
    }
    seconds = rest / per_second;
    nanoseconds = rest % per_second * (1'000'000'000 / per_second);
  }

  // Less than a day.
  void AddSeconds(int64_t more) {
    seconds += more;
    if (seconds < 0) {
      seconds += kSecondsPerDay;
      --days;
    } else if (seconds >= kSecondsPerDay) {
      seconds -= kSecondsPerDay;
      ++days;
    }
  }

  int64_t days;
  int64_t seconds;
  int64_t nanoseconds;
};

// A non-negative number, padded with zeros.
void AppendDigits(int64_t number, size_t width, std::string* out) {
  const std::string digits = std::to_string(number);
  if (digits.size() < width) out->append(width - digits.size(), '0');
  *out += digits;
}

// Append a point and the fraction of a second in the fewest of 3 (`least`), 6 or 9
// digits; nothing if it is 0.
void AppendFraction(int64_t nanoseconds, size_t least, std::string* out) {
  if (nanoseconds == 0) return;
  size_t width = 9;
  while (width > least && nanoseconds % 1'000 == 0) {
    nanoseconds /= 1'000;
    width -= 3;
  }
  *out += '.';
  AppendDigits(nanoseconds, width, out);
}

void AppendDays(const TimeParts& parts, std::string* out) {
  AppendInteger(parts.days, out);
  *out += " days";
}

// "02:03".
void AppendMinutes(int64_t seconds, std::string* out) {
  AppendDigits(seconds / 3600, 2, out);
  *out += ':';
  AppendDigits(seconds / 60 % 60, 2, out);
}

// "02:03:04".
void AppendSeconds(int64_t seconds, std::string* out) {
  AppendMinutes(seconds, out);
  *out += ':';
  AppendDigits(seconds % 60, 2, out);
}

// " 02:03:04"; with a plus after negative days.
void AppendTimeOfDay(const TimeParts& parts, std::string* out) {
  *out += parts.days < 0 ? " +" : " ";
  AppendSeconds(parts.seconds, out);
}

void AppendTime(const TimeParts& parts, TimePrecision precision, std::string* out) {
  AppendDay(parts.days, out);
  if (precision == TimePrecision::kDay) return;
  *out += ' ';
  AppendSeconds(parts.seconds, out);
  switch (precision) {
    case TimePrecision::kMilli:
      *out += '.';
      AppendDigits(parts.nanoseconds / 1'000'000, 3, out);
      break;
    case TimePrecision::kMicro:
      *out += '.';
      AppendDigits(parts.nanoseconds / 1'000, 6, out);
      break;
    case TimePrecision::kNano:
      *out += '.';
      AppendDigits(parts.nanoseconds, 9, out);
      break;
    default:
      break;
  }
}

}  // namespace

void AppendDay(int64_t day, std::string* out) {
  // The calendar repeats every 400 years; the library covers only some years.
  constexpr int64_t kYears = 400;
  constexpr int64_t kDays = 146'097;
  const int64_t rest = (day % kDays + kDays) % kDays;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{rest}}};
  const int64_t year = static_cast<int>(date.year()) + (day - rest) / kDays * kYears;
  if (year < 0) *out += '-';
  AppendDigits(std::abs(year), year < 0 ? 3 : 4, out);
  *out += '-';
  AppendDigits(static_cast<unsigned>(date.month()), 2, out);
  *out += '-';
  AppendDigits(static_cast<unsigned>(date.day()), 2, out);
}

void AppendTime(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                std::string* out) {
  AppendTime(TimeParts(ticks, unit), precision, out);
}

void AppendZonedTime(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                     int32_t offset, std::string* out) {
  TimeParts parts(ticks, unit);
  parts.AddSeconds(offset);
  AppendTime(parts, precision, out);
  const int32_t distance = std::abs(offset);
  *out += offset < 0 ? '-' : '+';
  if (distance % 60 == 0) {
    AppendMinutes(distance, out);
  } else {
    AppendSeconds(distance, out);
  }
}

void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out) {
  const TimeParts parts(ticks, unit);
  AppendDays(parts, out);
  AppendTimeOfDay(parts, out);
  AppendFraction(parts.nanoseconds, /*least=*/6, out);
}

void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                    std::string* out) {
  const TimeParts parts(ticks, unit);
  AppendDays(parts, out);
  if (precision == TimePrecision::kDay) return;
  AppendTimeOfDay(parts, out);
  if (precision == TimePrecision::kSecond) return;
  *out += '.';
  if (precision == TimePrecision::kNano) {
    AppendDigits(parts.nanoseconds, 9, out);
  } else {
    AppendDigits(parts.nanoseconds / 1'000, 6, out);
  }
}

void AppendIsoDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out) {
  const TimeParts parts(ticks, unit);
  *out += 'P';
  AppendInteger(parts.days, out);
  *out += "DT";
  AppendInteger(parts.seconds / 3600, out);
  *out += 'H';
  AppendInteger(parts.seconds / 60 % 60, out);
  *out += 'M';
  AppendInteger(parts.seconds % 60, out);
  AppendFraction(parts.nanoseconds, /*least=*/3, out);
  *out += 'S';
}

}  // namespace xshards::io
