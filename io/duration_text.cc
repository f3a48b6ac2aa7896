// SPDX-License-Identifier: Apache-2.0
#include "io/duration_text.h"

#include "io/number_text.h"

namespace xshards::io {

namespace {

constexpr int64_t kSecondsPerDay = 24 * 60 * 60;

int64_t TicksPerSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1'000;
    case arrow::TimeUnit::MICRO:
      return 1'000'000;
    default:
      return 1'000'000'000;
  }
}

/// Days, of which there may be less than none, and what is added to them.
struct DurationParts {
  DurationParts(int64_t ticks, arrow::TimeUnit::type unit) {
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

  int64_t days;
  int64_t seconds;
  int64_t nanoseconds;
};

void AppendDigits(int64_t number, size_t width, std::string* out) {
  const std::string digits = std::to_string(number);
  out->append(width - digits.size(), '0');
  *out += digits;
}

/// Append a point and the digits of the part of a second, in the fewest of 3 (`least`),
/// 6 or 9; nothing if there is no such part.
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

void AppendDays(const DurationParts& parts, std::string* out) {
  AppendInteger(parts.days, out);
  *out += " days";
}

// " 02:03:04"; more than a negative number of days.
void AppendTimeOfDay(const DurationParts& parts, std::string* out) {
  *out += parts.days < 0 ? " +" : " ";
  AppendDigits(parts.seconds / 3600, 2, out);
  *out += ':';
  AppendDigits(parts.seconds / 60 % 60, 2, out);
  *out += ':';
  AppendDigits(parts.seconds % 60, 2, out);
}

}  // namespace

void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out) {
  const DurationParts parts(ticks, unit);
  AppendDays(parts, out);
  AppendTimeOfDay(parts, out);
  AppendFraction(parts.nanoseconds, /*least=*/6, out);
}

void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                    std::string* out) {
  const DurationParts parts(ticks, unit);
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
  const DurationParts parts(ticks, unit);
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
