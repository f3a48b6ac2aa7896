// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/record_boundaries.h"

#include <algorithm>
#include <random>
#include <string>

#include <arrow/csv/parser.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

// The oracle: the record starts found by parsing record by record with Arrow's parser.
std::vector<int64_t> StartsByParsing(const std::string& text) {
  auto options = arrow::csv::ParseOptions::Defaults();
  options.pad_short_rows = true;
  options.ignore_extra_columns = true;
  options.ignore_empty_lines = false;
  std::vector<int64_t> starts;
  for (size_t at = 0; at < text.size();) {
    arrow::csv::BlockParser parser(options, -1, -1, /*max_num_rows=*/1);
    uint32_t used = 0;
    EXPECT_TRUE(parser.ParseFinal(std::string_view(text).substr(at), &used).ok());
    if (used == 0) break;
    at += used;
    if (at < text.size()) starts.push_back(static_cast<int64_t>(at));
  }
  return starts;
}

std::vector<int64_t> Find(const std::string& text, std::vector<int64_t> targets,
                          size_t chunk_bytes) {
  RecordBoundaries boundaries(',', '"', 0, std::move(targets));
  for (size_t at = 0; at < text.size(); at += chunk_bytes) {
    boundaries.Feed(std::string_view(text).substr(at, chunk_bytes));
  }
  auto starts = boundaries.starts();
  std::erase(starts, static_cast<int64_t>(text.size()));
  return starts;
}

// Every target of every text must give the first record start at or after it, for any
// chunks.
void CheckEveryTarget(const std::string& text) {
  const auto expected = StartsByParsing(text);
  for (const size_t chunk_bytes : {size_t{1}, size_t{2}, size_t{3}, text.size()}) {
    for (int64_t target = 1; target < static_cast<int64_t>(text.size()); ++target) {
      const auto next = std::lower_bound(expected.begin(), expected.end(), target);
      const auto found = Find(text, {target}, chunk_bytes);
      ASSERT_EQ(found, next == expected.end() ? std::vector<int64_t>{}
                                              : std::vector<int64_t>{*next})
          << "target " << target << ", chunks of " << chunk_bytes << " in " << text;
    }
  }
}

TEST(RecordBoundaries, AgreesWithTheParserOnAwkwardText) {
  for (const char* text :
       {"a,b\nc,d\n", "\"x\ny\",1\n2,3\n", "\"a\"\"\n\"\"b\",1\n\"\",2\n3,4",
        "5\" pipe,1\n\"x\ny\",2\nz\"\n,3\n", "a,\"b\"c\"\nd,e\n",
        "\"\"\n\"\"\"\"\n\"\n\"\n", "a\r\nb,\"c\r\nd\"\r\ne\r\n", "\n\n\na\n\n",
        "\"a\",\"b\nc\",\"d\"\n1,2,3", "x,\"\n\"\n\"\n\",y\n", "\"a\"b\n\"c\"\n"}) {
    CheckEveryTarget(text);
  }
}

TEST(RecordBoundaries, AgreesWithTheParserOnRandomText) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    // Balanced, as the rest of the text would be one open field otherwise.
    const size_t length = 5 + random() % 40;
    while (text.size() < length) {
      constexpr std::string_view kPieces[] = {"a",    ",",      "\n",       "\"x\"",
                                              "\r\n", "\"\n\"", "\"\"\"\"", "b\"c"};
      text += kPieces[random() % std::size(kPieces)];
    }
    RecordBoundaries boundaries(',', '"', 0, {});
    boundaries.Feed(text);
    if (!boundaries.in_quotes()) CheckEveryTarget(text);
  }
}

TEST(RecordBoundaries, GivesManyTargetsAtOnceInOrder) {
  const std::string text = "aa\nbb\n\"c\nc\"\ndd\n";
  EXPECT_THAT(Find(text, {1, 2, 7, 8, 9}, 4), ElementsAre(3, 12));
}

TEST(RecordBoundaries, ReportsThePositionOfAnOpenQuote) {
  RecordBoundaries open(',', '"', 100, {});
  open.Trace("a,b\nc,\"d\n");
  EXPECT_TRUE(open.in_quotes());
  EXPECT_EQ(open.opened_at(), 106);
  RecordBoundaries closed(',', '"', 0, {});
  closed.Feed("a,\"b\"");
  EXPECT_FALSE(closed.in_quotes());
}

TEST(RecordBoundaries, TracksQuotesOfLongTextLikeByteByByte) {
  std::mt19937 random(11);
  constexpr std::string_view kPieces[] = {"a",  ",",    "\n",   "\"x\"",    "\r\n",
                                          "\"", "\"\"", "b\"c", ",\"\n\",", "0123456789"};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    const size_t first = random() % std::size(kPieces);
    const size_t kinds = 1 + random() % std::size(kPieces);
    while (text.size() < 3000) {
      text += kPieces[(first + random() % kinds) % std::size(kPieces)];
    }
    std::vector<int64_t> targets;
    for (int64_t target = random() % 500; target < 3000; target += 1 + random() % 900) {
      targets.push_back(target + 1);
    }
    RecordBoundaries traced(',', '"', 0, targets);
    traced.Trace(text);
    for (const size_t chunk_bytes : {size_t{1}, size_t{63}, size_t{130}, text.size()}) {
      RecordBoundaries fed(',', '"', 0, targets);
      for (size_t at = 0; at < text.size(); at += chunk_bytes) {
        fed.Feed(std::string_view(text).substr(at, chunk_bytes));
      }
      ASSERT_EQ(fed.starts(), traced.starts()) << chunk_bytes << " in " << text;
      ASSERT_EQ(fed.in_quotes(), traced.in_quotes()) << chunk_bytes << " in " << text;
    }
  }
}

}  // namespace
}  // namespace xshards::io
