// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/value_kinds.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

CsvKinds Kinds(const std::vector<std::string>& values, const CsvOptions& options = {}) {
  const CsvValues reader(options);
  CsvKinds kinds = 0;
  for (const auto& value : values) {
    kinds |= reader.Classify(value);
  }
  return kinds;
}

std::string Type(const std::vector<std::string>& values, const CsvOptions& options = {}) {
  return TypeOf(Kinds(values, options))->ToString();
}

TEST(CsvValues, InfersTheTypesOfPandas) {
  EXPECT_EQ(Type({}), "large_string");
  EXPECT_EQ(Type({"NA", "", "null"}), "double");
  EXPECT_EQ(Type({"1", "NA", "-3", "+4", " 5"}), "int64");
  EXPECT_EQ(Type({"9223372036854775808", "1"}), "uint64");
  EXPECT_EQ(Type({"9223372036854775808", "-1"}), "large_string");
  EXPECT_EQ(Type({"9223372036854775808", "NA"}), "large_string");
  EXPECT_EQ(Type({"9223372036854775808", "-1", "1.5"}), "double");
  EXPECT_EQ(Type({"99999999999999999999", "None"}), "large_string");
  EXPECT_EQ(Type({"99999999999999999999", "0.5"}), "double");
  EXPECT_EQ(Type({"1", "2.0"}), "double");
  EXPECT_EQ(Type({"1e5", "inf"}), "double");
  EXPECT_EQ(Type({"True", "FALSE", "false", "tRUE", "NA"}), "bool");
  EXPECT_EQ(Type({"True", "1"}), "large_string");
  EXPECT_EQ(Type({"True", "1.5"}), "large_string");
  EXPECT_EQ(Type({" True"}), "large_string");
  for (const char* text : {"yes", "0xFF", "2020-01-01", "1 2", "-", "."}) {
    EXPECT_EQ(Type({"1", text}), "large_string") << text;
  }
}

TEST(CsvValues, ReadsAdditionalBooleans) {
  const CsvOptions options{.true_values = {"yes", "1", "both", "False"},
                           .false_values = {"no", "0", "both", "1.5"}};
  const CsvValues values(options);
  EXPECT_EQ(values.ReadBool("yes"), true);
  EXPECT_EQ(values.ReadBool("no"), false);
  EXPECT_EQ(values.ReadBool("both"), true);
  EXPECT_EQ(values.ReadBool("False"), true);
  EXPECT_EQ(values.ReadBool("FALSE"), false);
  EXPECT_EQ(CsvValues(CsvOptions{.false_values = {"True"}}).ReadBool("True"), true);
  EXPECT_EQ(CsvValues(CsvOptions{.false_values = {"tRUE"}}).ReadBool("tRUE"), false);
  EXPECT_EQ(values.ReadBool("Yes"), std::nullopt);
  EXPECT_EQ(Type({"yes", "no", "TRUE", ""}, options), "bool");
  EXPECT_EQ(Type({"1", "0", ""}, options), "int64");
  EXPECT_EQ(Type({"1", "1.5"}, options), "double");
  EXPECT_EQ(Type({"1", "2"}, options), "int64");
  EXPECT_EQ(Type({"1", "yes", "1.5"}, options), "bool");
  EXPECT_EQ(Type({"1", "2", "yes"}, options), "large_string");
  EXPECT_EQ(Type({"yes", "x"}, options), "large_string");
}

TEST(CsvValues, ReadsNumbersOfOtherFormats) {
  const CsvOptions options{.decimal = ',', .thousands = '.'};
  EXPECT_EQ(Type({"1.234", "-5"}, options), "int64");
  EXPECT_EQ(Type({"1.234,5", "1"}, options), "double");
  EXPECT_EQ(Type({"9.223.372.036.854.775.808"}, options), "uint64");
  EXPECT_EQ(Type({"1,5.0"}, options), "large_string");
  EXPECT_TRUE(AreHugeIntegers(Kinds({"99999999999999999999", "1"}, options)));
  EXPECT_FALSE(AreHugeIntegers(Kinds({"99999999999999999999", "1.0"}, options)));
  EXPECT_FALSE(AreHugeIntegers(Kinds({"99.999.999.999.999.999.999"}, options)));
}

TEST(CsvValues, InfersNoIntegersIfNumbersAreFloats) {
  const CsvOptions options{.numbers_are_floats = true};
  EXPECT_EQ(Type({"1", "", "99999999999999999999"}, options), "double");
  EXPECT_EQ(Type({"1", "x"}, options), "large_string");
  EXPECT_EQ(Type({"True"}, options), "bool");
}

TEST(CsvValues, ColumnsHaveTheirOwnNullMarkers) {
  const CsvColumnValues values(
      CsvOptions{.na_values = {"-"}, .column_na_values = {{"a", {"x", "7"}}}});
  EXPECT_TRUE(values.Of("a").missing().Contains("x"));
  EXPECT_TRUE(values.Of("a").missing().Contains("-"));
  EXPECT_TRUE(values.Of("a").missing().ContainsNumber(7));
  EXPECT_FALSE(values.Of("b").missing().Contains("x"));
  EXPECT_TRUE(values.Of("b").missing().Contains("-"));
  EXPECT_FALSE(values.Of("b").missing().hide_values());
}

TEST(CsvValues, RecognizesNullMarkers) {
  const MissingValues pandas(CsvOptions{});
  for (const char* text :
       {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND",
        "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}) {
    EXPECT_TRUE(pandas.Contains(text)) << text;
    EXPECT_FALSE(pandas.Contains(std::string(text) + "x")) << text;
  }
  for (const char* text : {"N", "na", "none", "Nil", "-", "1", " ", "NAN"}) {
    EXPECT_FALSE(pandas.Contains(text)) << text;
  }
  EXPECT_FALSE(pandas.hide_values());
  const std::string long_value(100, 'y');
  const MissingValues more(CsvOptions{.na_values = {"-", "999", long_value}});
  EXPECT_TRUE(more.Contains("-"));
  EXPECT_TRUE(more.Contains("NA"));
  EXPECT_TRUE(more.Contains(long_value));
  EXPECT_FALSE(more.Contains(std::string(99, 'y')));
  EXPECT_TRUE(more.hide_values());
  EXPECT_TRUE(more.ContainsNumber(999.0));
}

TEST(CsvValues, RemovesQuotesAndEscapes) {
  std::string scratch;
  const CsvValues quoted(CsvOptions{});
  EXPECT_EQ(quoted.Unescape("\"a\"", &scratch), "a");
  EXPECT_EQ(quoted.Unescape("\"\"", &scratch), "");
  EXPECT_EQ(quoted.Unescape("\"a\"\"b\"", &scratch), "a\"b");
  EXPECT_EQ(quoted.Unescape("\"\"\"\"", &scratch), "\"");
  EXPECT_EQ(quoted.Unescape("\"x\" y", &scratch), "x y");
  EXPECT_EQ(quoted.Unescape("\"x\"\"y\"z\"", &scratch), "x\"yz\"");
  EXPECT_FALSE(quoted.IsEscaped("5\" pipe"));
  const CsvValues escaped(CsvOptions{.escapechar = '\\'});
  EXPECT_EQ(escaped.Unescape("a\\,b", &scratch), "a,b");
  EXPECT_EQ(escaped.Unescape("\"q\\\"r\"", &scratch), "q\"r");
  EXPECT_EQ(escaped.Unescape("\"q\"\\r\\s", &scratch), "q\\rs");
  const CsvValues single(CsvOptions{.doublequote = false});
  EXPECT_EQ(single.Unescape("\"q\"\"r\"", &scratch), "q\"r\"");
  EXPECT_EQ(single.only_quotes(), std::nullopt);
}

}  // namespace
}  // namespace xshards::io
