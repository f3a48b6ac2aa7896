// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/tokenizer.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv/parse/scalar_tokenizer.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

struct Found {
  std::vector<uint32_t> ends;
  std::vector<uint32_t> last_fields;
  bool in_quotes = false;
  bool is_ascii = true;

  bool operator==(const Found&) const = default;
};

// The result of a scan, which must not depend on bytes after the text.
Found Scan(const std::string& text, CsvTarget target, CsvMarks marks = {}) {
  Found found;
  found.ends.resize(text.size() + kCsvPadding);
  found.last_fields.resize(text.size() + kCsvPadding);
  CsvFieldEnds out{.ends = found.ends.data(), .last_fields = found.last_fields.data()};
  const std::string padded = text + std::string(kCsvPadding, '"');
  CsvFieldFinder(target)(reinterpret_cast<const uint8_t*>(padded.data()),
                         static_cast<int64_t>(text.size()), marks, &out);
  found.ends.resize(static_cast<size_t>(out.num_ends));
  found.last_fields.resize(static_cast<size_t>(out.num_lines));
  found.in_quotes = out.in_quotes;
  found.is_ascii = out.is_ascii;
  return found;
}

// The oracle: the scan for odd structures, of the usual one.
Found ByteByByte(const std::string& text) {
  std::vector<uint32_t> pairs(2 * text.size());
  std::vector<uint32_t> line_ends(text.size());
  Found found;
  found.last_fields.resize(text.size());
  CsvFieldPairs out{.pairs = pairs.data(),
                    .last_fields = found.last_fields.data(),
                    .line_ends = line_ends.data()};
  FindOddCsvFields(text, OddCsvMarks(CsvOptions{}), &out);
  for (size_t i = 0; i < static_cast<size_t>(out.num_fields); ++i) {
    // Fields begin where the separator before them ends.
    EXPECT_EQ(pairs[2 * i], i == 0 ? static_cast<uint32_t>(-1) : pairs[2 * i - 1]);
    found.ends.push_back(pairs[2 * i + 1]);
  }
  found.last_fields.resize(static_cast<size_t>(out.num_lines));
  for (size_t i = 0; i < found.last_fields.size(); ++i) {
    EXPECT_EQ(line_ends[i], found.ends[found.last_fields[i]]);
  }
  found.in_quotes = out.in_quotes;
  found.is_ascii = out.is_ascii;
  return found;
}

std::vector<CsvTarget> Targets() {
  std::vector<CsvTarget> targets;
  for (const auto target : {CsvTarget::kBaseline, CsvTarget::kAvx2, CsvTarget::kAvx512}) {
    if (IsSupported(target)) targets.push_back(target);
  }
  return targets;
}

TEST(CsvStructure, FindsFieldsAndLinesOutsideQuotes) {
  const std::string text = "a,\"b\n,\"\"\",5\" x\r\n";
  for (const Found& found : {Scan(text, CsvTarget::kBaseline), ByteByByte(text)}) {
    EXPECT_THAT(found.ends, ElementsAre(1, 9, 14, 15));
    EXPECT_THAT(found.last_fields, ElementsAre(2, 3));
    EXPECT_FALSE(found.in_quotes);
    EXPECT_TRUE(found.is_ascii);
  }
  EXPECT_TRUE(Scan("a,\"b", CsvTarget::kBaseline).in_quotes);
  EXPECT_FALSE(Scan("\xC3\xA9", CsvTarget::kBaseline).is_ascii);
  EXPECT_THAT(Scan("\"a,b", CsvTarget::kBaseline, {.has_quote = false}).ends,
              ElementsAre(2));
}

TEST(CsvStructure, AllTargetsAgreeByteByByte) {
  std::mt19937 random(3);
  constexpr std::string_view kPieces[] = {"a",
                                          ",",
                                          "\n",
                                          "\"",
                                          "\"x\"",
                                          "\r\n",
                                          "\"",
                                          "\"\"",
                                          "b\"c",
                                          ",\"",
                                          "\",",
                                          "é",
                                          "0123456789012345678901234567890123456789"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const size_t length = random() % 300;
    // Few kinds of pieces at a time, so that runs of each are long enough to matter.
    const size_t first = random() % std::size(kPieces);
    const size_t kinds = 1 + random() % std::size(kPieces);
    while (text.size() < length) {
      text += kPieces[(first + random() % kinds) % std::size(kPieces)];
    }
    const Found expected = ByteByByte(text);
    for (const CsvTarget target : Targets()) {
      ASSERT_EQ(Scan(text, target), expected)
          << "target " << static_cast<int>(target) << ": " << text;
      const size_t whole = text.size() / 64 * 64;
      CsvQuoteState state;
      CsvQuoteSkipper(target)(reinterpret_cast<const uint8_t*>(text.data()),
                              static_cast<int64_t>(whole), {}, &state);
      ASSERT_EQ(state.in_quotes, ByteByByte(text.substr(0, whole)).in_quotes)
          << "target " << static_cast<int>(target) << ": " << text;
    }
  }
}

}  // namespace
}  // namespace xshards::io
