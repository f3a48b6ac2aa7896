// SPDX-License-Identifier: Apache-2.0
#include "io/text/zone_offsets.h"

#include <arrow/compute/initialize.h>
#include <gmock/gmock.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using xshards::testing::Array;

arrow::Result<std::vector<int32_t>> Offsets(const std::string& zone,
                                            const std::string& values,
                                            arrow::TimeUnit::type unit) {
  const auto times = Array(arrow::timestamp(unit, zone), values);
  return ZoneOffsets(static_cast<const arrow::TimestampArray&>(*times),
                     arrow::compute::default_exec_context());
}

arrow::Result<std::vector<int32_t>> Offsets(const std::string& zone,
                                            const std::string& seconds) {
  return Offsets(zone, seconds, arrow::TimeUnit::SECOND);
}

class ZoneOffsetsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_OK(arrow::compute::Initialize()); }
};

TEST_F(ZoneOffsetsTest, DependOnTheTime) {
  // 1880, before zones had hours; January and July of 2013; nothing.
  ASSERT_OK_AND_ASSIGN(
      const auto paris,
      Offsets("Europe/Paris", "[-2840140800, 1357516800, 1373155200, null]"));
  EXPECT_THAT(paris, ElementsAre(561, 3600, 7200, ::testing::_));
  ASSERT_OK_AND_ASSIGN(const auto fixed, Offsets("-00:43", "[0, 1373155200]"));
  EXPECT_THAT(fixed, ElementsAre(-2580, -2580));
  ASSERT_OK_AND_ASSIGN(const auto none, Offsets("", "[0, 1]"));
  EXPECT_THAT(none, ElementsAre(0, 0));
  ASSERT_OK_AND_ASSIGN(const auto empty, Offsets("Europe/Paris", "[]"));
  EXPECT_THAT(empty, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const auto missing, Offsets("Europe/Paris", "[null]"));
  EXPECT_EQ(missing.size(), 1U);
}

TEST_F(ZoneOffsetsTest, IgnoreFractionsOfASecond) {
  // Paris left its own time at 1911-03-10 23:50:39 of UTC.
  ASSERT_OK_AND_ASSIGN(const auto paris,
                       Offsets("Europe/Paris", "[-1855958961001, -1855958961000]",
                               arrow::TimeUnit::MILLI));
  EXPECT_THAT(paris, ElementsAre(561, 0));
}

TEST_F(ZoneOffsetsTest, AreUnknownOutsideYears1To9999) {
  // 9999-12-31 23:59:59, and a second later.
  EXPECT_OK(Offsets("Europe/Paris", "[253402300799, -62135596800]"));
  EXPECT_FAILS(NotImplemented,
               "in the zone Europe/Paris, since its UTC offset is unknown outside them; "
               "convert them to UTC. Got 10000-01-01 00:00:00+00:00",
               Offsets("Europe/Paris", "[0, 253402300800]"));
  EXPECT_FAILS(NotImplemented, "Got 0000-12-31 23:59:59+00:00",
               Offsets("Europe/Paris", "[-62135596801]"));
  ASSERT_OK_AND_ASSIGN(const auto fixed, Offsets("+05:30", "[253402300800]"));
  EXPECT_THAT(fixed, ElementsAre(19'800));
  ASSERT_OK_AND_ASSIGN(const auto utc, Offsets("UTC", "[253402300800]"));
  EXPECT_THAT(utc, ElementsAre(0));
}

TEST_F(ZoneOffsetsTest, NameAZoneThatIsUnknown) {
  const auto offsets = Offsets("Moon/Far_Side", "[0]");
  EXPECT_NE(offsets.status().message().find("Moon/Far_Side"), std::string::npos)
      << offsets.status();
}

}  // namespace
}  // namespace xshards::io
