// SPDX-License-Identifier: Apache-2.0
#include "io/csv/convert/time_columns.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

// The type of a column of such times.
std::string Type(const std::vector<std::string>& texts, const std::string& format) {
  std::string text;
  for (const auto& one : texts) text += one + ",\n";
  const std::string padding(kCsvPadding, ' ');
  std::string padded = padding + text + padding;
  CsvRows rows(CsvOptions{});
  rows.Find(padded.data() + kCsvPadding, static_cast<int64_t>(text.size()),
            /*is_last=*/true, /*num_columns=*/2);
  const auto times = TimeFormat::Make(format);
  if (!times.has_value()) return "no format";
  const auto kinds =
      TimeKindsOf(*times, CsvValues(CsvOptions{}), rows, 0, rows.num_rows());
  return TimeFieldOf(*times, kinds, arrow::field("t", arrow::null()))->type()->ToString();
}

TEST(CsvTimes, HaveTheUnitOfTheirDigits) {
  EXPECT_EQ(Type({"2024-01-31", "", "NaT"}, "%Y-%m-%d"), "timestamp[us]");
  EXPECT_EQ(Type({"1500-01-31"}, "%Y-%m-%d"), "timestamp[us]");
  EXPECT_EQ(Type({"", "NaT"}, "%Y-%m-%d"), "timestamp[s]");
  EXPECT_EQ(Type({"2024-01-31Z"}, "%Y-%m-%d%z"), "timestamp[us, tz=UTC]");
  const std::string fine = "%Y-%m-%d %H:%M:%S.%f";
  EXPECT_EQ(Type({"2024-01-31 00:00:00.5"}, fine), "timestamp[us]");
  EXPECT_EQ(Type({"2024-01-31 00:00:00.5", "2024-01-31 00:00:00.0000000"}, fine),
            "timestamp[ns]");
}

TEST(CsvTimes, OneTextMakesAColumnText) {
  EXPECT_EQ(Type({"2024-01-31", "2024-01-32"}, "%Y-%m-%d"), "large_string");
  const std::string fine = "%Y-%m-%d %H:%M:%S.%f";
  EXPECT_EQ(Type({"1500-01-31 00:00:00.5", "2024-01-31 00:00:00.0000000"}, fine),
            "large_string");
}

TEST(CsvTimes, AreConvertedToAUnit) {
  const CsvTime time{.seconds = -1, .nanoseconds = 5000, .is_fine = false};
  EXPECT_EQ(InUnit(time, arrow::TimeUnit::MICRO), -999995);
  EXPECT_EQ(InUnit(time, arrow::TimeUnit::NANO), -999995000);
  EXPECT_EQ(InUnit(time, arrow::TimeUnit::SECOND), std::nullopt);
  EXPECT_EQ(
      InUnit({.seconds = 1, .nanoseconds = 5, .is_fine = true}, arrow::TimeUnit::MICRO),
      std::nullopt);
  EXPECT_EQ(InUnit({.seconds = int64_t{1} << 40}, arrow::TimeUnit::NANO), std::nullopt);
}

}  // namespace
}  // namespace xshards::io
