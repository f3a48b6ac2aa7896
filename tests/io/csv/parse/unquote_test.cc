// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/unquote.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "io/csv/parse/value_kinds.h"

namespace xshards::io {
namespace {

// The value, which must be equal on every target and for any bytes after the field;
// nothing is written past the padding.
std::string Unquoted(const std::string& field, char quote = '"') {
  std::string value;
  bool is_first = true;
  for (const char behind : {'x', quote}) {
    const std::string padded = field + std::string(kUnquotePadding, behind);
    std::string out(field.size() + kUnquotePadding + 1, '!');
    for (const auto target :
         {CsvTarget::kBaseline, CsvTarget::kAvx2, CsvTarget::kAvx512}) {
      if (!IsSupported(target)) continue;
      const CopyUnquoted copy = CsvUnquoter(target);
      const char* const end = copy(padded.data(), field.size(), quote, out.data());
      EXPECT_EQ(out.back(), '!');
      const std::string found(out.data(), static_cast<size_t>(end - out.data()));
      EXPECT_TRUE(is_first || found == value) << field;
      value = found;
      is_first = false;
    }
  }
  return value;
}

TEST(CsvUnquoter, RemovesQuotes) {
  EXPECT_EQ(Unquoted("\"\""), "");
  EXPECT_EQ(Unquoted("\"a\""), "a");
  EXPECT_EQ(Unquoted("\"\"\"\""), "\"");
  EXPECT_EQ(Unquoted("\"a\"\"b\""), "a\"b");
  EXPECT_EQ(Unquoted("\"x\" y"), "x y");
  EXPECT_EQ(Unquoted("\"x\"\"y\"z\""), "x\"yz\"");
  EXPECT_EQ(Unquoted("\"open"), "open");
  EXPECT_EQ(Unquoted("'it''s'", '\''), "it's");
}

TEST(CsvUnquoter, AgreesWithTheOneByteAtATimeReader) {
  std::mt19937 random(2);
  // With an escape character that no text has, fields are read byte by byte.
  const CsvValues values(CsvOptions{.escapechar = '\x01'});
  std::string scratch;
  for (int round = 0; round < 20000; ++round) {
    std::string field = "\"";
    const size_t size = random() % 200;
    const size_t rarity = 1 + random() % 20;
    while (field.size() <= size) field += random() % rarity == 0 ? '"' : 'a';
    if (random() % 2 == 0) field += '"';
    ASSERT_EQ(Unquoted(field), values.Unescape(field, &scratch)) << field;
  }
}

}  // namespace
}  // namespace xshards::io
