// SPDX-License-Identifier: Apache-2.0
#include "io/scan/hive_partitions.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

TEST(HiveFolders, RoundTripValues) {
  for (const std::string text : {"x", "", "a/b", "k=v", "100%", "é ü", "..", "a+b"}) {
    ASSERT_OK_AND_ASSIGN(const auto folder,
                         HiveFolder("co=l/1", arrow::LargeStringScalar(text)));
    EXPECT_EQ(folder.find('/'), std::string::npos) << folder;
    const auto values = HiveValues(folder + "/part-00000.parquet");
    ASSERT_EQ(values.size(), 1) << folder;
    EXPECT_EQ(values[0].column, "co=l/1");
    EXPECT_EQ(values[0].value, text);
  }
  ASSERT_OK_AND_ASSIGN(const auto number, HiveFolder("n", arrow::Int64Scalar(-7)));
  EXPECT_EQ(number, "n=-7");
  const auto milliseconds = arrow::duration(arrow::TimeUnit::MILLI);
  ASSERT_OK_AND_ASSIGN(const auto duration,
                       HiveFolder("d", arrow::DurationScalar(90500, milliseconds)));
  EXPECT_EQ(HiveValues(duration + "/x")[0].value, "0 days 00:01:30.500000");
  ASSERT_OK_AND_ASSIGN(const auto missing,
                       HiveFolder("n", *arrow::MakeNullScalar(arrow::int64())));
  EXPECT_EQ(missing, "n=__HIVE_DEFAULT_PARTITION__");
  EXPECT_EQ(HiveValues(missing + "/x")[0].value, std::nullopt);
}

TEST(HiveFolders, IgnoreFileNames) {
  const auto values = HiveValues("base/a=1/plain/b=x/c=3.parquet");
  ASSERT_EQ(values.size(), 2);
  EXPECT_EQ(values[0].column, "a");
  EXPECT_EQ(values[1].column, "b");
  EXPECT_TRUE(HiveValues("a=1").empty());
  EXPECT_TRUE(HiveValues("=1/x").empty());
}

TEST(HiveFolders, HaveATypeForAllValues) {
  EXPECT_TRUE(HiveType({"1", "-20", std::nullopt})->Equals(arrow::int64()));
  for (const char* text : {"x", "1.5", "007", "", "9223372036854775808", "+1"}) {
    EXPECT_TRUE(HiveType({"1", text})->Equals(arrow::large_utf8())) << text;
  }
  EXPECT_TRUE(HiveType({std::nullopt})->Equals(arrow::large_utf8()));
  EXPECT_FAILS(Invalid, "'x'",
               ToHiveScalar({.column = "n", .value = "x"}, arrow::int64()));
  ASSERT_OK_AND_ASSIGN(const auto seven,
                       ToHiveScalar({.column = "n", .value = "7"}, arrow::int64()));
  EXPECT_TRUE(seven->Equals(arrow::Int64Scalar(7)));
}

}  // namespace
}  // namespace xshards::io
