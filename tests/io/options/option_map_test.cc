// SPDX-License-Identifier: Apache-2.0
#include "io/options/option_map.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/columnar/options.h"
#include "io/csv/options.h"
#include "io/json/options.h"
#include "io/options/type_names.h"
#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

TEST(OptionMap, ListsOfAnyBytesTravel) {
  const std::vector<std::vector<std::string>> lists = {
      {}, {""}, {"a", "", "b:c", "12:x"}, {std::string("\0\n,", 3), "日本"}};
  for (const auto& list : lists) {
    ASSERT_OK_AND_ASSIGN(const auto decoded, DecodeList(EncodeList(list)));
    EXPECT_EQ(decoded, list);
  }
}

TEST(OptionMap, RejectsDamagedLists) {
  for (const char* text : {"x", "3", "3:ab", ":", "99999999999999999999:a", "-1:a"}) {
    EXPECT_FALSE(DecodeList(text).ok()) << text;
  }
}

TEST(OptionMap, NamesTheValueThatIsWrong) {
  EXPECT_FAILS(Invalid, "'n' must be an integer, got 'x'", GetInt({{"n", "x"}}, "n"));
  EXPECT_FAILS(Invalid, "'b' must be 'true' or 'false'", GetBool({{"b", "1"}}, "b"));
  EXPECT_FAILS(Invalid, "'c' must be one byte", GetChar({{"c", "ab"}}, "c"));
  EXPECT_FAILS(Invalid, "'z'; expected one of 'a', 'b'",
               CheckKeys({{"z", ""}}, {"a", "b"}, "writing"));
}

TEST(OptionMap, NumbersTravelAsRuns) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const auto& numbers : std::vector<std::vector<int64_t>>{
           {5}, {0, 1, 2}, {3, 7, 8, 9, 11}, {1, 3, 5}, {1, kLargest - 1, kLargest}}) {
    const OptionMap map{{"n", EncodeNumbers(numbers)}};
    ASSERT_OK_AND_ASSIGN(const auto decoded, GetNumbers(map, "n"));
    EXPECT_EQ(decoded, numbers);
  }
  EXPECT_EQ(EncodeNumbers({3, 7, 8, 9, 11}), "3,7-9,11");
  for (const char* text : {"", "x", "3,", "4-", "4-2", "1;2"}) {
    EXPECT_FAILS(Invalid, "must be numbers", GetNumbers({{"n", text}}, "n"));
  }
}

TEST(CsvOptions, Travel) {
  CsvOptions options;
  options.sep = '\t';
  options.header = false;
  options.names = {"a", "b,c"};
  options.usecols = {{"a"}};
  options.dtype = {{"a", "int32"}};
  options.quotechar = std::nullopt;
  options.escapechar = '\\';
  options.times = {{"b,c", "%Y-%m-%d"}};
  options.na_values = {"-", "?"};
  options.column_na_values = {{"a", {"x", ""}}, {"b,c", {}}};
  options.true_values = {"yes"};
  options.false_values = {"no", ""};
  options.decimal = ',';
  options.thousands = '.';
  options.numbers_are_floats = true;
  options.delim_whitespace = true;
  options.skipinitialspace = true;
  options.doublequote = false;
  options.keep_default_na = false;
  options.na_filter = false;
  options.skiprows = 3;
  options.skipfooter = 2;
  options.skip_lines = {7, 9, 10, 11, 100};
  options.skip_blank_lines = false;
  options.on_bad_lines = BadLines::kWarn;
  options.header_row = 4;
  options.encoding = TextEncoding::kUtf16Be;
  options.compression = TextCompression::kXz;
  options.nrows = 10;
  options.split = {.num_partitions = 4, .block_size = 100};
  ASSERT_OK_AND_ASSIGN(const auto decoded, CsvOptions::FromMap(options.ToMap()));
  EXPECT_EQ(decoded.ToMap(), options.ToMap());
  EXPECT_EQ(decoded.quotechar, std::nullopt);
  EXPECT_EQ(decoded.names, options.names);
  EXPECT_EQ(decoded.times, options.times);
  EXPECT_EQ(decoded.skip_lines, options.skip_lines);
  EXPECT_EQ(decoded.on_bad_lines, BadLines::kWarn);
  EXPECT_EQ(decoded.encoding, TextEncoding::kUtf16Be);
  EXPECT_EQ(decoded.compression, TextCompression::kXz);
  EXPECT_EQ(decoded.column_na_values, options.column_na_values);
  EXPECT_EQ(decoded.false_values, options.false_values);
  EXPECT_EQ(decoded.thousands, '.');
  EXPECT_TRUE(decoded.delim_whitespace && decoded.skipinitialspace);
  EXPECT_FALSE(decoded.doublequote);
  const CsvOptions others{.long_sep = "::", .quotechar = std::nullopt};
  ASSERT_OK_AND_ASSIGN(const auto long_sep, CsvOptions::FromMap(others.ToMap()));
  EXPECT_EQ(long_sep.long_sep, "::");
  const CsvOptions commented{.comment = '#'};
  ASSERT_OK_AND_ASSIGN(const auto comment, CsvOptions::FromMap(commented.ToMap()));
  EXPECT_EQ(comment.comment, '#');
  EXPECT_FALSE(decoded.keep_default_na || decoded.na_filter);
  ASSERT_OK_AND_ASSIGN(const auto defaults, CsvOptions::FromMap(CsvOptions{}.ToMap()));
  EXPECT_EQ(defaults.quotechar, '"');
  EXPECT_EQ(defaults.usecols, std::nullopt);
}

TEST(CsvOptions, AreValidated) {
  EXPECT_FAILS(Invalid, "must differ", (CsvOptions{.sep = '"'}.Validate()));
  EXPECT_FAILS(Invalid, "sep must not be", (CsvOptions{.sep = '\n'}.Validate()));
  EXPECT_FAILS(Invalid, "'a' twice", (CsvOptions{.names = {"a", "a"}}.Validate()));
  EXPECT_FAILS(Invalid, "column 'a'", (CsvOptions{.dtype = {{"a", "no"}}}.Validate()));
  EXPECT_FAILS(Invalid, "for column 'a', got 'x'",
               (CsvOptions{.times = {{"a", "x"}}}.Validate()));
  EXPECT_FAILS(Invalid, "must differ, got ',' twice",
               (CsvOptions{.decimal = ',', .thousands = ','}.Validate()));
  EXPECT_FAILS(Invalid, "digits, signs or 'e', got '-'",
               (CsvOptions{.thousands = '-'}.Validate()));
  EXPECT_FAILS(Invalid, "long_sep knows no quotechar",
               (CsvOptions{.long_sep = "::"}.Validate()));
  EXPECT_FAILS(Invalid, "long_sep must not have line ends",
               (CsvOptions{.long_sep = ":\n", .quotechar = std::nullopt}.Validate()));
  EXPECT_FAILS(Invalid, "comment does not go with",
               (CsvOptions{.skipinitialspace = true, .comment = '#'}.Validate()));
  EXPECT_FAILS(Invalid, "skiprows", (CsvOptions{.skiprows = -1}.Validate()));
  EXPECT_FAILS(Invalid, "nrows", (CsvOptions{.nrows = -1}.Validate()));
  EXPECT_FAILS(Invalid, "num_partitions",
               (CsvOptions{.split = {.num_partitions = -1}}.Validate()));
}

TEST(JsonOptions, Travel) {
  const JsonOptions options{
      .dtype = {{"a", "float64"}}, .nrows = 5, .split = {.block_size = 7}};
  ASSERT_OK_AND_ASSIGN(const auto decoded, JsonOptions::FromMap(options.ToMap()));
  EXPECT_EQ(decoded.ToMap(), options.ToMap());
}

TEST(ParquetOptions, Travel) {
  const ParquetOptions options{.columns = {{"a", "b"}}, .split = {.num_partitions = 7}};
  ASSERT_OK_AND_ASSIGN(const auto decoded, ParquetOptions::FromMap(options.ToMap()));
  EXPECT_EQ(decoded.ToMap(), options.ToMap());
  EXPECT_FAILS(Invalid, "'a' twice",
               (ParquetOptions{.columns = {{"a", "a"}}}.Validate()));
}

TEST(TypeNames, KnowArrowsAndPandasNames) {
  for (const auto& [name, type] :
       std::vector<std::pair<std::string, std::shared_ptr<arrow::DataType>>>{
           {"int64", arrow::int64()},
           {"Int32", arrow::int32()},
           {"str", arrow::large_utf8()},
           {"object", arrow::large_utf8()},
           {"double", arrow::float64()},
           {"datetime64[ns]", arrow::timestamp(arrow::TimeUnit::NANO)},
           {"decimal128(10, 2)", arrow::decimal128(10, 2)},
           {"decimal128(5,0)", arrow::decimal128(5, 0)}}) {
    ASSERT_OK_AND_ASSIGN(const auto found, TypeFromName(name));
    EXPECT_TRUE(found->Equals(*type)) << name;
  }
  for (const char* name : {"", "integer", "decimal128(10)", "decimal128(a, b)"}) {
    EXPECT_FALSE(TypeFromName(name).ok()) << name;
  }
}

TEST(TypeNames, EveryTypeOfArrowsNameReadsBack) {
  for (const auto& type :
       {arrow::int8(), arrow::uint64(), arrow::float64(), arrow::large_utf8(),
        arrow::boolean(), arrow::date32(), arrow::timestamp(arrow::TimeUnit::MICRO),
        arrow::decimal128(12, 3)}) {
    ASSERT_OK_AND_ASSIGN(const auto found, TypeFromName(type->ToString()));
    EXPECT_TRUE(found->Equals(*type)) << type->ToString();
  }
}

}  // namespace
}  // namespace xshards::io
