// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/scalar_tokenizer.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::vector<std::string>>;

struct FoundLines {
  Lines lines;
  std::vector<uint32_t> line_ends;
  bool in_quotes = false;
  bool is_ascii = true;
};

FoundLines Find(const std::string& text, const CsvOptions& options) {
  const OddCsvMarks marks(options);
  const auto room = static_cast<size_t>(MaxFields(text, marks));
  std::vector<uint32_t> pairs(2 * room);
  std::vector<uint32_t> last_fields(room);
  FoundLines found;
  found.line_ends.resize(room);
  CsvFieldPairs out{.pairs = pairs.data(),
                    .last_fields = last_fields.data(),
                    .line_ends = found.line_ends.data()};
  FindOddCsvFields(text, marks, &out);
  uint32_t field = 0;
  for (size_t line = 0; line < static_cast<size_t>(out.num_lines); ++line) {
    std::vector<std::string> fields;
    for (; field <= last_fields[line]; ++field) {
      const uint32_t begin = pairs[2 * field] + 1;
      fields.push_back(text.substr(begin, pairs[2 * field + 1] - begin));
    }
    found.lines.push_back(std::move(fields));
  }
  found.line_ends.resize(found.lines.size());
  found.in_quotes = out.in_quotes;
  found.is_ascii = out.is_ascii;
  return found;
}

Lines LinesOf(const std::string& text, const CsvOptions& options) {
  return Find(text, options).lines;
}

TEST(CsvOddStructure, IsWhatTheVectorTokenizersDoNotSupport) {
  EXPECT_FALSE(IsOdd({}));
  EXPECT_FALSE(IsOdd({.sep = ' ', .quotechar = std::nullopt}));
  EXPECT_TRUE(IsOdd({.long_sep = "::"}));
  EXPECT_TRUE(IsOdd({.delim_whitespace = true}));
  EXPECT_TRUE(IsOdd({.skipinitialspace = true}));
  EXPECT_TRUE(IsOdd({.doublequote = false}));
  EXPECT_TRUE(IsOdd({.escapechar = '\\'}));
}

TEST(CsvOddStructure, EscapedCharactersAreOrdinary) {
  const CsvOptions options{.escapechar = '\\'};
  EXPECT_EQ(LinesOf("a\\,b,\"c\\\"\n\"\nd\\\ne\n", options),
            (Lines{{"a\\,b", "\"c\\\"\n\""}, {"d\\\ne"}}));
  EXPECT_EQ(LinesOf("a\\", options), Lines{});
  // But not directly after a quote.
  EXPECT_EQ(LinesOf("\"\"\\,b\n", options), (Lines{{"\"\"\\", "b"}}));
  EXPECT_EQ(LinesOf("\"\"\\,b\n", {.doublequote = false, .escapechar = '\\'}),
            (Lines{{"\"\"\\,b"}}));
}

TEST(CsvOddStructure, TwoQuotesAreOneOnlyWithDoublequote) {
  const std::string text = "\"a\"\",b\",c\n";
  EXPECT_EQ(LinesOf(text, {.escapechar = '\\'}), (Lines{{"\"a\"\",b\"", "c"}}));
  EXPECT_EQ(LinesOf(text, {.doublequote = false}), (Lines{{"\"a\"\"", "b\"", "c"}}));
}

TEST(CsvOddStructure, SkipsBlanksBeforeFields) {
  const CsvOptions options{.skipinitialspace = true};
  EXPECT_EQ(LinesOf("  a,  b , \"c, d\"\n ,\n", options),
            (Lines{{"a", "b ", "\"c, d\""}, {"", ""}}));
  EXPECT_EQ(LinesOf("a,\t\"b\n", options), (Lines{{"a", "\t\"b"}}));
}

TEST(CsvOddStructure, SplitsAtRunsOfBlanks) {
  const CsvOptions options{.delim_whitespace = true};
  const auto found = Find("  a \t b  \n\n \"c d\"e\tf\n", options);
  EXPECT_EQ(found.lines, (Lines{{"a", "b"}, {""}, {"\"c d\"e", "f"}}));
  EXPECT_THAT(found.line_ends, ElementsAre(9, 10, 20));
  EXPECT_EQ(LinesOf("a b  ", options), Lines{});
}

TEST(CsvOddStructure, SplitsStrippedLinesAtLongSeparators) {
  const CsvOptions options{.long_sep = "::", .quotechar = std::nullopt};
  const auto found = Find(" a::\"b::c:: \r\n\n:::d\n::\nrest::", options);
  EXPECT_EQ(found.lines,
            (Lines{{"a", "\"b", "c", ""}, {""}, {""}, {"", ":d"}, {"", ""}}));
  EXPECT_THAT(found.line_ends, ElementsAre(12, 13, 14, 19, 22));
  // A separator that is stripped is none.
  EXPECT_EQ(LinesOf("  a  b  \n  \n", {.long_sep = "  ", .quotechar = std::nullopt}),
            (Lines{{"a", "b"}, {""}}));
}

TEST(CsvOddStructure, ReportsHowTheTextEnds) {
  const CsvOptions options{.skipinitialspace = true};
  EXPECT_TRUE(Find("a, \"b\n", options).in_quotes);
  EXPECT_FALSE(Find("a, \"b\"", options).in_quotes);
  EXPECT_TRUE(Find("a\n", options).is_ascii);
  EXPECT_FALSE(Find("a\n\xC3\xA9", options).is_ascii);
}

}  // namespace
}  // namespace xshards::io
