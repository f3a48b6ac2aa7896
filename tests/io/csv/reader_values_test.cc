// SPDX-License-Identifier: Apache-2.0
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

/// Reads a text as one split and cut at every possible position, which must agree.
class CsvReaderValues : public IoTest {
 protected:
  std::shared_ptr<arrow::Table> Read(const std::string& text, CsvOptions options) {
    const auto path = Write("test.csv", text);
    options.split = {.num_partitions = 1};
    auto whole = Rows(ReadCsv(context_, path, options));
    if (whole == nullptr) return nullptr;
    for (size_t bytes = 1; bytes <= text.size(); ++bytes) {
      options.split = {.block_size = static_cast<int64_t>(bytes)};
      const auto cut = Rows(ReadCsv(context_, path, options));
      EXPECT_TRUE(cut != nullptr && cut->Equals(*whole)) << "pieces of " << bytes;
    }
    return whole;
  }
};

TEST_F(CsvReaderValues, ReadsNumbersOfOtherFormats) {
  const auto table = Read("i;f;t\n1.234;1.234,5;1.5\n-5;,25;1,5\n\"1.000\";1e3;x\n",
                          {.sep = ';', .decimal = ',', .thousands = '.'});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "i"), "int64");
  EXPECT_EQ(Text(*table, "i"), "[1234,-5,1000]");
  EXPECT_EQ(TypeName(*table, "f"), "double");
  EXPECT_EQ(Text(*table, "f"), "[1234.5,0.25,1000]");
  EXPECT_EQ(Text(*table, "t"), "[1.5,1,5,x]");
}

TEST_F(CsvReaderValues, ReadsAdditionalBooleans) {
  const auto table = Read("a,b,c\nyes,1,1\nno,0,yes\n,,2\n",
                          {.true_values = {"yes", "1"}, .false_values = {"no", "0"}});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "a"), "bool");
  EXPECT_EQ(Text(*table, "a"), "[true,false,null]");
  EXPECT_EQ(TypeName(*table, "b"), "int64");
  EXPECT_EQ(TypeName(*table, "c"), "large_string");
}

TEST_F(CsvReaderValues, ColumnsHaveTheirOwnNullMarkers) {
  const auto table = Read("a,b\n7,7\nx,x\n", {.column_na_values = {{"a", {"7", "x"}}}});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "a"), "[null,null]");
  EXPECT_EQ(Text(*table, "b"), "[7,x]");
}

TEST_F(CsvReaderValues, InfersNoIntegersIfNumbersAreFloats) {
  const auto table =
      Read("a,b\n1,99999999999999999999\n2,\n", {.numbers_are_floats = true});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "a"), "double");
  EXPECT_EQ(Text(*table, "b"), "[1e+20,null]");
}

TEST_F(CsvReaderValues, ReadsOddStructures) {
  auto table = Read("a, b\n1, \"x,\n y\"\n  2,  z\n", {.skipinitialspace = true});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "a"), "[1,2]");
  EXPECT_EQ(Text(*table, "b"), "[x,\n y,z]");
  table = Read(" a  b\n1 \t \"x y\"  \n\n 2 z\n3\n", {.delim_whitespace = true});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "a"), "[1,2,3]");
  EXPECT_EQ(Text(*table, "b"), "[x y,z,null]");
  table =
      Read("a::b\n1::\"x\n2::y \n::\n", {.long_sep = "::", .quotechar = std::nullopt});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "a"), "[1,2,null]");
  EXPECT_EQ(Text(*table, "b"), "[\"x,y,null]");
  table = Read("a,b\n\"x\"\"y\",1\n\"z\n\",2\n", {.doublequote = false});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "a"), "[x\"y\",z\n]");
}

TEST_F(CsvReaderValues, EndsTheLastRecordAfterAnEscapedLineEnd) {
  const auto table = Read("a,b\n1,x\n2,y\\\n", {.escapechar = '\\'});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "b"), "[x,y\n]");
}

TEST_F(CsvReaderValues, CutsOddFilesWithoutQuotes) {
  const auto path = Write("odd.csv", "a  b\n1  2\n3  4\n5  6\n7  8\n");
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, path,
                                                  {.delim_whitespace = true,
                                                   .split = {.num_partitions = 4}}));
  EXPECT_GT(ScanOf(shards).splits.size(), 1);
}

TEST_F(CsvReaderValues, ReadsTimesOfAFormat) {
  const auto table = Read(
      "t,f,m,x\n01/31/2024,1970-01-01 00:00:00.5,,1\n"
      "2/1/2024,1970-01-01 00:00:00.0000001,NaT,2\n",
      {.times = {
           {"t", "%m/%d/%Y"}, {"f", "%Y-%m-%d %H:%M:%S.%f"}, {"m", "%Y"}, {"x", "%Y"}}});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "t"), "timestamp[us]");
  EXPECT_EQ(Text(*table, "t"), "[2024-01-31 00:00:00.000000,2024-02-01 00:00:00.000000]");
  EXPECT_EQ(TypeName(*table, "f"), "timestamp[ns]");
  EXPECT_EQ(TypeName(*table, "m"), "timestamp[s]");
  EXPECT_EQ(Text(*table, "x"), "[1,2]");
}

TEST_F(CsvReaderValues, NamesAFileThatEndsInAnEscape) {
  const auto path = Write("escape.csv", "a,b\n1,x\\");
  auto shards = ReadCsv(context_, path, {.escapechar = '\\'});
  const auto status = shards.ok() ? shards->ToTable().status() : shards.status();
  EXPECT_FAILS(Invalid, "after the escapechar at the end of '", status);
}

TEST_F(CsvReaderValues, NamesTheOpenQuoteOfAnOddFile) {
  const auto path = Write("open.csv", "a, b\n1, \"x\n");
  auto shards = ReadCsv(context_, path, {.skipinitialspace = true});
  const auto status = shards.ok() ? shards->ToTable().status() : shards.status();
  EXPECT_FAILS(Invalid, "Expected the quote opened in '", status);
}

}  // namespace
}  // namespace xshards::io
