// SPDX-License-Identifier: Apache-2.0
#include "io/csv_times.h"

#include <string>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

constexpr int64_t kSecond = 1000000;
constexpr int64_t kDay = 86400 * kSecond;

TEST(CsvTimes, ReadsWhatIsWrittenLikeTheFirst) {
  const auto dates = TimeText::Like("2024-01-31");
  ASSERT_TRUE(dates.has_value());
  EXPECT_EQ(dates->Read("1970-01-02"), kDay);
  EXPECT_EQ(dates->Read("1969-12-31"), -kDay);
  EXPECT_EQ(dates->Read("2000-02-29"), 11016 * kDay);
  for (const char* other :
       {"", "1970-01-2", "1970-01-02 ", "1970/01/02", "1970-13-01", "1970-02-30",
        "2023-02-29", "1970-01-02 00:00", "x970-01-02", "1970-01-02Z"}) {
    EXPECT_FALSE(dates->Read(other).has_value()) << other;
  }
  const auto seconds = TimeText::Like("2024-01-31T12:00:00");
  ASSERT_TRUE(seconds.has_value());
  EXPECT_EQ(seconds->Read("1970-01-01T01:02:03"), 3723 * kSecond);
  for (const char* other :
       {"1970-01-01 01:02:03", "1970-01-01T24:00:00", "1970-01-01T00:60:00",
        "1970-01-01T00:00:60", "1970-01-01T00:00", "1970-01-01T00:00:00.5"}) {
    EXPECT_FALSE(seconds->Read(other).has_value()) << other;
  }
}

TEST(CsvTimes, ReadsFractionsOfAnyLength) {
  const auto times = TimeText::Like("2024-01-31 12:00:00.5");
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->Read("1970-01-01 00:00:00.25"), 250000);
  EXPECT_EQ(times->Read("1970-01-01 00:00:01.000001"), kSecond + 1);
  for (const char* other : {"1970-01-01 00:00:00", "1970-01-01 00:00:00.",
                            "1970-01-01 00:00:00.1234567", "1970-01-01 00:00:00.x"}) {
    EXPECT_FALSE(times->Read(other).has_value()) << other;
  }
}

TEST(CsvTimes, KnowsTimesOfUtc) {
  const auto times = TimeText::Like("2024-01-31T12:00Z");
  ASSERT_TRUE(times.has_value());
  EXPECT_TRUE(times->type()->Equals(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")));
  EXPECT_EQ(times->Read("1970-01-01T00:01Z"), 60 * kSecond);
  EXPECT_FALSE(times->Read("1970-01-01T00:01").has_value());
}

TEST(CsvTimes, LeavesOtherTextsToOthers) {
  for (const char* first :
       {"", "x", "2024", "2024-01", "20240131", "31.01.2024", "2024-01-31Z",
        "2024-01-31 12", "2024-01-31x12:00", "2024-01-31 12:00:00.",
        "2024-01-31 12:00:00.1234567", "2024-01-31 12:00+02:00", "2024-02-30"}) {
    EXPECT_FALSE(TimeText::Like(first).has_value()) << first;
  }
}

TEST(CsvTimes, OneTextMakesAColumnText) {
  const auto times = TimeText::Like("2024-01-31");
  ASSERT_TRUE(times.has_value());
  const auto field = arrow::field("t", arrow::float64());
  const auto kinds = static_cast<CsvKinds>(CsvKind::kInteger);
  const auto text = static_cast<CsvKinds>(CsvKind::kText);
  EXPECT_EQ(TimeFieldOf(*times, kinds, field)->type()->id(), arrow::Type::TIMESTAMP);
  EXPECT_EQ(TimeFieldOf(*times, kinds | text, field)->type()->id(),
            arrow::Type::LARGE_STRING);
}

}  // namespace
}  // namespace xshards::io
