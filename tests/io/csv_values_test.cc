// SPDX-License-Identifier: Apache-2.0
#include "io/csv_values.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

CsvKinds Kinds(const std::vector<std::string>& values, const CsvOptions& options = {}) {
  const CsvValues reader(options);
  CsvKinds kinds = 0;
  for (const auto& value : values) {
    kinds |= static_cast<CsvKinds>(reader.Classify(value));
  }
  return kinds;
}

std::string Type(const std::vector<std::string>& values) {
  return TypeOf(Kinds(values))->ToString();
}

TEST(CsvValues, TypesAreThoseOfPandas) {
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

TEST(CsvValues, KnowsMissingValues) {
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

TEST(CsvValues, TakesQuotesAndEscapesOff) {
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
}

}  // namespace
}  // namespace xshards::io
