// SPDX-License-Identifier: Apache-2.0
#include "io/csv_unquote.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "io/csv_values.h"

namespace xshards::io {
namespace {

// The value, whatever stands behind the field, and nothing written too far.
std::string Unquoted(const std::string& field, char quote = '"') {
  std::string value;
  for (const char behind : {'x', quote}) {
    const std::string padded = field + std::string(kUnquotePadding, behind);
    std::string out(field.size() + kUnquotePadding + 1, '!');
    char* const end = CopyUnquoted({padded.data(), field.size()}, quote, out.data());
    EXPECT_EQ(out.back(), '!');
    const std::string found(out.data(), end);
    EXPECT_TRUE(behind == 'x' || found == value) << field;
    value = found;
  }
  return value;
}

TEST(CopyUnquoted, TakesQuotesOff) {
  EXPECT_EQ(Unquoted("\"\""), "");
  EXPECT_EQ(Unquoted("\"a\""), "a");
  EXPECT_EQ(Unquoted("\"\"\"\""), "\"");
  EXPECT_EQ(Unquoted("\"a\"\"b\""), "a\"b");
  EXPECT_EQ(Unquoted("\"x\" y"), "x y");
  EXPECT_EQ(Unquoted("\"x\"\"y\"z\""), "x\"yz\"");
  EXPECT_EQ(Unquoted("\"open"), "open");
  EXPECT_EQ(Unquoted("'it''s'", '\''), "it's");
}

TEST(CopyUnquoted, AgreesWithTheOneByteAtATimeReader) {
  std::mt19937 random(2);
  // With an escape character that no text has, fields are read byte by byte.
  const CsvValues values(CsvOptions{.escapechar = '\x01'});
  std::string scratch;
  for (int round = 0; round < 20000; ++round) {
    std::string field = "\"";
    const size_t size = random() % 100;
    const size_t rarity = 1 + random() % 20;
    while (field.size() <= size) field += random() % rarity == 0 ? '"' : 'a';
    if (random() % 2 == 0) field += '"';
    ASSERT_EQ(Unquoted(field), values.Unescape(field, &scratch)) << field;
  }
}

}  // namespace
}  // namespace xshards::io
