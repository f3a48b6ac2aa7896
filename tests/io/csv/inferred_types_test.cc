// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <thread>

#include <arrow/io/compressed.h>
#include <arrow/io/file.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>

#include "tests/io/csv/csv_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

using CsvInferredTypes = CsvTest;

TEST_F(CsvInferredTypes, InfersTypesAsPandasDoes) {
  const auto table = Read(
      "i,f,b,s,empty,mixed,hex,huge,big,spaced\n"
      "1,1.5,True,x,,True,0x10,99999999999999999999,18446744073709551615, 1\n"
      "-2,2,false,1,NA,1,7,1,3,2 \n"
      "3,NaN,,,null,x,8,2,4,\n");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "i"), "int64");
  EXPECT_EQ(TypeName(*table, "f"), "double");
  EXPECT_EQ(TypeName(*table, "b"), "bool");
  EXPECT_EQ(TypeName(*table, "s"), "large_string");
  EXPECT_EQ(TypeName(*table, "empty"), "double");
  EXPECT_EQ(TypeName(*table, "mixed"), "large_string");
  EXPECT_EQ(TypeName(*table, "hex"), "large_string");
  EXPECT_EQ(TypeName(*table, "huge"), "large_string");
  EXPECT_EQ(TypeName(*table, "big"), "uint64");
  EXPECT_EQ(TypeName(*table, "spaced"), "int64");
  EXPECT_EQ(Text(*table, "i"), "[1,-2,3]");
  EXPECT_EQ(Text(*table, "f"), "[1.5,2,null]");
  EXPECT_EQ(Text(*table, "b"), "[true,false,null]");
  EXPECT_EQ(Text(*table, "s"), "[x,1,null]");
  EXPECT_EQ(Text(*table, "spaced"), "[1,2,null]");
}

TEST_F(CsvInferredTypes, ReadsDatesAsText) {
  const auto table = Read("d,t\n2020-01-01,12:30:00\n2021-02-03,01:02:03\n");
  EXPECT_EQ(TypeName(*table, "d"), "large_string");
  EXPECT_EQ(TypeName(*table, "t"), "large_string");
}

TEST_F(CsvInferredTypes, WidensTypesOverAllSplitsAndFiles) {
  std::string text = "n,b\n";
  for (int i = 0; i < 1000; ++i) text += "1,True\n";
  text += "1.5,7\n";
  const auto table = Read(text, {.split = {.num_partitions = 8}});
  EXPECT_EQ(TypeName(*table, "n"), "double");
  EXPECT_EQ(TypeName(*table, "b"), "large_string");
  const auto files =
      Rows(ReadCsv(context_, std::vector<std::string>{Write("1.csv", "a,b\n1,\n"),
                                                      Write("2.csv", "a,b\n2.5,x\n")}));
  EXPECT_EQ(TypeName(*files, "a"), "double");
  EXPECT_EQ(Text(*files, "b"), "[null,x]");
}

// Rows of a value until the samples end, and then rows of others.
std::string Behind(const std::string& sampled, const std::vector<std::string>& values) {
  std::string text = "id,n\n";
  for (int i = 0; text.size() < (100 << 10); ++i) {
    text += std::to_string(i) + "," + sampled + "\n";
  }
  for (const auto& value : values) text += "0," + value + "\n";
  return text;
}

TEST_F(CsvInferredTypes, WidensTypesForValuesAfterTheSamples) {
  struct Case {
    std::string sampled;
    std::vector<std::string> values;
    std::string type;
    std::string last;
  };
  const std::string max_uint64 = "18446744073709551615";
  const std::string huge = "123456789012345678901";
  for (const auto& [sampled, values, type, last] : std::vector<Case>{
           {"5", {"-7"}, "int64", "-7"},
           {"5", {max_uint64}, "uint64", max_uint64},
           {"5", {max_uint64, "-1"}, "large_string", "-1"},
           {max_uint64, {""}, "large_string", "null"},
           {"5", {max_uint64, "0.5"}, "double", "0.5"},
           {"5", {"\"1.5\""}, "double", "1.5"},
           {"5", {huge, "\" -007 \""}, "large_string", "-7"},
           {"5", {"True"}, "large_string", "True"},
           {"5", {"1.50", "x"}, "large_string", "x"},
           {"1.5", {huge}, "double", "1.2345678901234568e+20"},
           {"true", {""}, "bool", "null"},
           {"true", {"1"}, "large_string", "1"},
           {"", {"7", max_uint64}, "large_string", max_uint64},
           {"", {"False"}, "bool", "false"},
           {huge, {"2.5"}, "double", "2.5"},
       }) {
    const auto text = Behind(sampled, values);
    for (const int num_partitions : {1, 2, 7}) {
      const auto table = Read(text, {.split = {.num_partitions = num_partitions}});
      ASSERT_NE(table, nullptr);
      EXPECT_EQ(TypeName(*table, "n"), type) << sampled << " " << values[0];
      EXPECT_EQ(TypeName(*table, "id"), "int64");
      const auto column = table->GetColumnByName("n");
      EXPECT_EQ(column->GetScalar(column->length() - 1).ValueOrDie()->ToString(), last);
    }
  }
}

TEST_F(CsvInferredTypes, KeepsTheTextOfValuesFirstInferredAsNumbers) {
  const auto table = Read(Behind("007", {"x"}));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->GetColumnByName("n")->GetScalar(0).ValueOrDie()->ToString(), "007");
}

TEST_F(CsvInferredTypes, InfersTypesOnceForAllPlans) {
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadCsv(context_, Write("test.csv", Behind("5", {"x"}))));
  ASSERT_OK_AND_ASSIGN(const auto inferred, shards.schema());
  EXPECT_EQ(inferred->GetFieldByName("n")->type()->ToString(), "int64");
  // A column that is not read is not checked, nor is any when rows are counted.
  ASSERT_OK(shards.Select({"id"}).ToTable());
  ASSERT_OK(shards.Count());
  ASSERT_OK_AND_ASSIGN(const auto still, shards.schema());
  EXPECT_TRUE(still->Equals(*inferred));
  ASSERT_OK(shards.Select({"n"}).ToTable());
  ASSERT_OK_AND_ASSIGN(const auto found, shards.schema());
  EXPECT_EQ(found->GetFieldByName("n")->type()->ToString(), "large_string");
  EXPECT_EQ(TypeName(*Rows(shards), "n"), "large_string");
}

TEST_F(CsvInferredTypes, InfersTypesForConcurrentActions) {
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadCsv(context_, Write("test.csv", Behind("5", {"x"}))));
  std::vector<arrow::Status> statuses(4);
  {
    std::vector<std::jthread> threads;
    for (auto& status : statuses) {
      threads.emplace_back([&] { status = shards.ToTable().status(); });
    }
  }
  for (const auto& status : statuses) ASSERT_OK(status);
}

TEST_F(CsvInferredTypes, WidensTypesInExpressionsThatUseThem) {
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadCsv(context_, Write("test.csv", Behind("5", {"0.25"}))));
  const auto small = Rows(shards.Filter(col("n") < lit(1)).Select({"n"}));
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(Text(*small, "n"), "[0.25]");
  const auto directory = directory_.path() + "/out";
  ASSERT_OK(shards.WriteCsv(directory));
  const auto written = Rows(ReadCsv(context_, directory));
  ASSERT_NE(written, nullptr);
  EXPECT_TRUE(written->Equals(*Rows(shards)));
}

}  // namespace
}  // namespace xshards::io
