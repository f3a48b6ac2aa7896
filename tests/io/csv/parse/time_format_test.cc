// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/time_format.h"

#include <string>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

constexpr int64_t kDay = 86400;

// Seconds since 1970, or -1 if the text does not match.
int64_t Seconds(const std::string& format, const std::string& text) {
  const auto made = TimeFormat::Make(format);
  if (!made.has_value()) {
    ADD_FAILURE() << "no format: " << format;
    return -1;
  }
  const auto time = made->Read(text);
  return time.has_value() ? time->seconds : -1;
}

TEST(CsvTimeFormat, ReadsIsoTimes) {
  const std::string date = "%Y-%m-%d";
  EXPECT_EQ(Seconds(date, "1970-01-02"), kDay);
  EXPECT_EQ(Seconds(date, "1969-12-31"), -kDay);
  EXPECT_EQ(Seconds(date, "2000-02-29"), 11016 * kDay);
  EXPECT_EQ(Seconds(date, "1970-1-2"), kDay);
  EXPECT_EQ(Seconds(date, "1970-1- 2"), kDay);
  for (const char* other : {"", "1970-01-02 ", " 1970-01-02", "1970/01/02", "1970-13-01",
                            "1970-02-30", "2023-02-29", "1970-01-02 00:00", "x970-01-02",
                            "1970-01-02Z", "0000-01-01", "970-01-02", "1970-01-00"}) {
    EXPECT_EQ(Seconds(date, other), -1) << other;
  }
  const std::string seconds = "%Y-%m-%dT%H:%M:%S";
  EXPECT_EQ(Seconds(seconds, "1970-01-01T01:02:03"), 3723);
  EXPECT_EQ(Seconds(seconds, "1970-01-01t1:2:3"), 3723);
  EXPECT_EQ(Seconds(seconds, "1970-01-01T00:00:60"), 60);
  for (const char* other :
       {"1970-01-01 01:02:03", "1970-01-01T24:00:00", "1970-01-01T00:60:00",
        "1970-01-01T00:00:62", "1970-01-01T00:00", "1970-01-01T00:00:00.5"}) {
    EXPECT_EQ(Seconds(seconds, other), -1) << other;
  }
  EXPECT_EQ(Seconds("%Y-%m-%d %H:%M", "1970-01-01 \t00:01"), 60);
}

TEST(CsvTimeFormat, ReadsFractionsOfUpToNineDigits) {
  for (const char* day : {"%Y-%m-%d", "%d.%m.%Y"}) {
    const auto times = TimeFormat::Make(std::string(day) + " %H:%M:%S.%f");
    ASSERT_TRUE(times.has_value());
    const std::string text =
        day[1] == 'Y' ? "1970-01-01 00:00:01." : "01.01.1970 00:00:01.";
    EXPECT_EQ(times->Read(text + "25"), (CsvTime{1, 250000000, false}));
    EXPECT_EQ(times->Read(text + "000001"), (CsvTime{1, 1000, false}));
    EXPECT_EQ(times->Read(text + "0000000"), (CsvTime{1, 0, true}));
    EXPECT_EQ(times->Read(text + "123456789"), (CsvTime{1, 123456789, true}));
    for (const char* other : {"", "x", "1234567890", "5 "}) {
      EXPECT_FALSE(times->Read(text + other).has_value()) << other;
    }
  }
}

TEST(CsvTimeFormat, ReadsOtherOrdersAndNames) {
  EXPECT_EQ(Seconds("%m/%d/%Y", "01/02/1970"), kDay);
  EXPECT_EQ(Seconds("%m/%d/%Y", "1/2/1970"), kDay);
  EXPECT_EQ(Seconds("%m/%d/%Y", "13/2/1970"), -1);
  EXPECT_EQ(Seconds("%d.%m.%Y", "2.01.1970"), kDay);
  EXPECT_EQ(Seconds("%d.%m.%Y", "2x01x1970"), -1);
  EXPECT_EQ(Seconds("%d/%m/%y", "02/01/70"), kDay);
  EXPECT_EQ(Seconds("%d/%m/%y", "01/01/69"), -365 * kDay);
  EXPECT_EQ(Seconds("%d/%m/%y", "01/01/68"), 35794 * kDay);
  EXPECT_EQ(Seconds("%d-%b-%Y", "02-jAN-1970"), kDay);
  EXPECT_EQ(Seconds("%d-%b-%Y", "02-January-1970"), -1);
  EXPECT_EQ(Seconds("%B %d, %Y", "January 2, 1970"), kDay);
  EXPECT_EQ(Seconds("%a %b %d %Y", "Fri Jan 2 1970"), kDay);
  EXPECT_EQ(Seconds("%A, %B %d, %Y", "friday, may 1, 1970"), 120 * kDay);
  EXPECT_EQ(Seconds("%Y", "1971"), 365 * kDay);
  EXPECT_EQ(Seconds("%Y%m%d", "19700102"), kDay);
  EXPECT_EQ(Seconds("%d/%m/%Y%%", "2/1/1970%"), kDay);
}

TEST(CsvTimeFormat, AcceptsFewerDigits) {
  EXPECT_EQ(Seconds("%Y%m%d", "1970131"), 30 * kDay);
  EXPECT_EQ(Seconds("%Y%m%d", "1970111"), 304 * kDay);
  EXPECT_EQ(Seconds("%m%d%Y", "1021970"), 274 * kDay);
  EXPECT_EQ(Seconds("%m%d%Y", "1121970"), 305 * kDay);
}

TEST(CsvTimeFormat, ReadsAmAndPm) {
  const std::string format = "%Y-%m-%d %I:%M %p";
  EXPECT_EQ(Seconds(format, "1970-01-01 12:05 am"), 300);
  EXPECT_EQ(Seconds(format, "1970-01-01 1:05 PM"), 13 * 3600 + 300);
  EXPECT_EQ(Seconds(format, "1970-01-01 12:05 PM"), 12 * 3600 + 300);
  EXPECT_EQ(Seconds(format, "1970-01-01 0:05 AM"), -1);
  EXPECT_EQ(Seconds(format, "1970-01-01 13:05 PM"), -1);
  EXPECT_EQ(Seconds("%Y-%m-%d %H %p", "1970-01-01 13 am"), 13 * 3600);
}

TEST(CsvTimeFormat, ReadsUtcTimes) {
  const std::string format = "%Y-%m-%dT%H:%M%z";
  EXPECT_TRUE(TimeFormat::Make(format)->is_utc());
  EXPECT_FALSE(TimeFormat::Make("%Y-%m-%dT%H:%M")->is_utc());
  for (const char* zone : {"Z", "+00:00", "-0000"}) {
    EXPECT_EQ(Seconds(format, std::string("1970-01-01T00:01") + zone), 60) << zone;
  }
  for (const char* zone : {"", "z", "+00", "+01:00", " Z"}) {
    EXPECT_EQ(Seconds(format, std::string("1970-01-01T00:01") + zone), -1) << zone;
  }
}

TEST(CsvTimeFormat, RejectsUnsupportedFormats) {
  for (const char* format :
       {"", "x", "%", "%H:%M", "%Y-%j", "%Y-%m-%d %Q", "%Y %Y", "%Y %y", "%b %m %Y",
        "%Y %H %I", "-%Y", " %Y", "%Y \xC3\xA9"}) {
    EXPECT_FALSE(TimeFormat::Make(format).has_value()) << format;
  }
}

}  // namespace
}  // namespace xshards::io
