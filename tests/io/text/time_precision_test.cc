// SPDX-License-Identifier: Apache-2.0
#include "io/text/time_precision.h"

#include <gtest/gtest.h>

#include "tests/support/test_data.h"

namespace xshards::io {
namespace {

using arrow::TimeUnit;
using xshards::testing::Array;

TimePrecision Of(const std::shared_ptr<arrow::DataType>& type,
                 const std::string& values) {
  return PrecisionOf(*Array(type, values));
}

TEST(TimePrecision, IsOfTimesAndDurations) {
  EXPECT_TRUE(HasPrecision(*arrow::timestamp(TimeUnit::SECOND)));
  EXPECT_TRUE(HasPrecision(*arrow::timestamp(TimeUnit::NANO, "UTC")));
  EXPECT_TRUE(HasPrecision(*arrow::duration(TimeUnit::MILLI)));
  EXPECT_FALSE(HasPrecision(*arrow::date32()));
  EXPECT_FALSE(HasPrecision(*arrow::date64()));
  EXPECT_FALSE(HasPrecision(*arrow::time32(TimeUnit::SECOND)));
  EXPECT_FALSE(HasPrecision(*arrow::int64()));
}

TEST(TimePrecision, IsTheFinestThatAnyValueNeeds) {
  for (const auto& type :
       {arrow::timestamp(TimeUnit::NANO), arrow::duration(TimeUnit::NANO)}) {
    EXPECT_EQ(Of(type, "[0, 86400000000000]"), TimePrecision::kDay);
    EXPECT_EQ(Of(type, "[0, 1000000000]"), TimePrecision::kSecond);
    EXPECT_EQ(Of(type, "[1000000000, 1000000]"), TimePrecision::kMilli);
    EXPECT_EQ(Of(type, "[1000000, 1000, 0]"), TimePrecision::kMicro);
    EXPECT_EQ(Of(type, "[1, 86400000000000]"), TimePrecision::kNano);
    EXPECT_EQ(Of(type, "[-1000000]"), TimePrecision::kMilli);
    EXPECT_EQ(Of(type, "[-86400000000000]"), TimePrecision::kDay);
  }
}

TEST(TimePrecision, IsNoFinerThanTheUnit) {
  EXPECT_EQ(Of(arrow::timestamp(TimeUnit::SECOND), "[1]"), TimePrecision::kSecond);
  EXPECT_EQ(Of(arrow::timestamp(TimeUnit::MILLI), "[1]"), TimePrecision::kMilli);
  EXPECT_EQ(Of(arrow::timestamp(TimeUnit::MICRO), "[1]"), TimePrecision::kMicro);
  EXPECT_EQ(Of(arrow::duration(TimeUnit::SECOND), "[86400]"), TimePrecision::kDay);
  EXPECT_EQ(FinestOf(TimeUnit::SECOND), TimePrecision::kSecond);
  EXPECT_EQ(FinestOf(TimeUnit::NANO), TimePrecision::kNano);
  EXPECT_EQ(TicksPerSecond(TimeUnit::SECOND), 1);
  EXPECT_EQ(TicksPerSecond(TimeUnit::MILLI), 1'000);
  EXPECT_EQ(TicksPerSecond(TimeUnit::MICRO), 1'000'000);
  EXPECT_EQ(TicksPerSecond(TimeUnit::NANO), 1'000'000'000);
}

TEST(TimePrecision, IsADayWithoutValues) {
  for (const char* values : {"[]", "[null]", "[null, null]"}) {
    EXPECT_EQ(Of(arrow::timestamp(TimeUnit::MICRO), values), TimePrecision::kDay);
    EXPECT_EQ(Of(arrow::duration(TimeUnit::SECOND), values), TimePrecision::kDay);
    EXPECT_EQ(Of(arrow::timestamp(TimeUnit::MICRO, "UTC"), values),
              TimePrecision::kSecond);
  }
}

TEST(TimePrecision, IgnoresMissingValues) {
  // The slot of a missing value may hold anything.
  const auto times = Array(arrow::timestamp(TimeUnit::MICRO), "[0, 5, 86400000000]");
  auto data = times->data()->Copy();
  data->buffers[0] = Array(arrow::boolean(), "[true, false, true]")->data()->buffers[1];
  data->null_count = 1;
  EXPECT_EQ(PrecisionOf(*arrow::MakeArray(data)), TimePrecision::kDay);
}

TEST(TimePrecision, UsesOnlyTheRowsOfASlice) {
  const auto times = Array(arrow::timestamp(TimeUnit::MICRO), "[5, 0, 1000000, 5]");
  EXPECT_EQ(PrecisionOf(*times->Slice(1, 1)), TimePrecision::kDay);
  EXPECT_EQ(PrecisionOf(*times->Slice(1, 2)), TimePrecision::kSecond);
  EXPECT_EQ(PrecisionOf(*times->Slice(1)), TimePrecision::kMicro);
}

TEST(TimePrecision, OfAZoneIsNeverADay) {
  EXPECT_EQ(Of(arrow::timestamp(TimeUnit::SECOND, "UTC"), "[0]"), TimePrecision::kSecond);
  EXPECT_EQ(Of(arrow::timestamp(TimeUnit::MILLI, "Europe/Paris"), "[0, 7]"),
            TimePrecision::kMilli);
}

}  // namespace
}  // namespace xshards::io
