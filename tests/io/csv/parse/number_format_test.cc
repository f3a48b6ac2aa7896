// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/number_format.h"

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

std::string Plain(const NumberFormat& format, const std::string& text) {
  std::string scratch;
  return std::string(format.ToPlain(text, &scratch).value_or("none"));
}

TEST(CsvNumberFormat, KeepsStandardNumbers) {
  const NumberFormat format('.', std::nullopt);
  EXPECT_TRUE(format.is_plain());
  EXPECT_EQ(Plain(format, " 1,5 "), " 1,5 ");
}

TEST(CsvNumberFormat, RemovesSeparators) {
  const NumberFormat format('.', ',');
  EXPECT_FALSE(format.is_plain());
  EXPECT_EQ(Plain(format, "1,234"), "1234");
  EXPECT_EQ(Plain(format, " -1,234,567.5 "), "-1234567.5");
  EXPECT_EQ(Plain(format, "1,2,"), "12");
  EXPECT_EQ(Plain(format, "1,e5"), "1e5");
  EXPECT_EQ(Plain(format, ""), "");
  for (const char* text : {",1", "-,1", "1,,2", "1.5,0", "1e5,", "1e,5", ".,5", "in,f"}) {
    EXPECT_EQ(Plain(format, text), "none") << text;
  }
}

TEST(CsvNumberFormat, SupportsOtherDecimalPoints) {
  const NumberFormat format(',', '.');
  EXPECT_EQ(Plain(format, "1.234,5e-3"), "1234.5e-3");
  EXPECT_EQ(Plain(format, ",5"), ".5");
  for (const char* text : {",5.0", "1,5,2", "1e5,0"}) {
    EXPECT_EQ(Plain(format, text), "none") << text;
  }
  EXPECT_EQ(Plain(NumberFormat(',', std::nullopt), "1.5"), "none");
  EXPECT_EQ(Plain(NumberFormat(',', ' '), " 1 234,5 "), "1234.5");
}

}  // namespace
}  // namespace xshards::io
