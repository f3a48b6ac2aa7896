// SPDX-License-Identifier: Apache-2.0
#include "io/text/time_formatting.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

using arrow::TimeUnit;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string Time(int64_t ticks, TimeUnit::type unit, TimePrecision precision) {
  std::string text;
  AppendTime(ticks, unit, precision, &text);
  return text;
}

std::string Day(int64_t day) {
  std::string text;
  AppendDay(day, &text);
  return text;
}

std::string Zoned(int64_t seconds, int32_t offset) {
  std::string text;
  AppendZonedTime(seconds, TimeUnit::SECOND, TimePrecision::kSecond, offset, &text);
  return text;
}

TEST(TimeText, HasTheDigitsOfThePrecision) {
  const int64_t ticks = 19'800'500'000'000;
  EXPECT_EQ(Time(ticks, TimeUnit::NANO, TimePrecision::kDay), "1970-01-01");
  EXPECT_EQ(Time(ticks, TimeUnit::NANO, TimePrecision::kSecond), "1970-01-01 05:30:00");
  EXPECT_EQ(Time(ticks, TimeUnit::NANO, TimePrecision::kMilli),
            "1970-01-01 05:30:00.500");
  EXPECT_EQ(Time(ticks, TimeUnit::NANO, TimePrecision::kMicro),
            "1970-01-01 05:30:00.500000");
  EXPECT_EQ(Time(ticks, TimeUnit::NANO, TimePrecision::kNano),
            "1970-01-01 05:30:00.500000000");
  EXPECT_EQ(Time(-1, TimeUnit::MILLI, TimePrecision::kMilli), "1969-12-31 23:59:59.999");
}

TEST(TimeText, HasDaysOfAllYears) {
  EXPECT_EQ(Day(0), "1970-01-01");
  EXPECT_EQ(Day(-1), "1969-12-31");
  EXPECT_EQ(Day(11'016), "2000-02-29");
  EXPECT_EQ(Day(-25'509), "1900-02-28");
  EXPECT_EQ(Day(-25'508), "1900-03-01");
  EXPECT_EQ(Day(-719'528), "0000-01-01");
  EXPECT_EQ(Day(-719'529), "-001-12-31");
  EXPECT_EQ(Day(2'932'896), "9999-12-31");
  EXPECT_EQ(Day(2'932'897), "10000-01-01");
  EXPECT_EQ(Day(11'248'737), "32767-12-31");
  EXPECT_EQ(Day(11'248'738), "32768-01-01");
}

TEST(TimeText, CoversAll64BitValues) {
  // As pandas has them.
  EXPECT_EQ(Time(kMost, TimeUnit::SECOND, TimePrecision::kSecond),
            "292277026596-12-04 15:30:07");
  EXPECT_EQ(Time(kLeast + 1, TimeUnit::SECOND, TimePrecision::kSecond),
            "-292277022657-01-27 08:29:53");
  EXPECT_EQ(Time(kMost, TimeUnit::MILLI, TimePrecision::kMilli),
            "292278994-08-17 07:12:55.807");
  EXPECT_EQ(Time(kLeast + 1, TimeUnit::MICRO, TimePrecision::kMicro),
            "-290308-12-21 19:59:05.224193");
  EXPECT_EQ(Time(kLeast + 1, TimeUnit::NANO, TimePrecision::kNano),
            "1677-09-21 00:12:43.145224193");
}

TEST(TimeText, IncludesTheUtcOffset) {
  EXPECT_EQ(Zoned(0, 0), "1970-01-01 00:00:00+00:00");
  EXPECT_EQ(Zoned(0, 3600), "1970-01-01 01:00:00+01:00");
  EXPECT_EQ(Zoned(0, -3600), "1969-12-31 23:00:00-01:00");
  EXPECT_EQ(Zoned(86'399, 19'800), "1970-01-02 05:29:59+05:30");
  // Before there were hours of zones.
  EXPECT_EQ(Zoned(-2'840'140'800, 561), "1880-01-01 00:09:21+00:09:21");
  EXPECT_EQ(Zoned(-2'840'140'800, -2'588), "1879-12-31 23:16:52-00:43:08");
  EXPECT_EQ(Zoned(kMost, 86'399), "292277026596-12-05 15:30:06+23:59:59");
  EXPECT_EQ(Zoned(kLeast, -86'399), "-292277022657-01-26 08:29:53-23:59:59");
}

}  // namespace
}  // namespace xshards::io
