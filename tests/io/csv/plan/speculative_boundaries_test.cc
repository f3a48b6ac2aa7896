// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/speculative_boundaries.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "io/csv/plan/split_planner.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

std::string RandomText(std::mt19937& random, size_t size) {
  constexpr std::string_view kPieces[] = {"a",  ",",    "\n",   "\"x\"",    "\r\n",
                                          "\"", "\"\"", "b\"c", ",\"\n\",", "0123456789"};
  const size_t first = random() % std::size(kPieces);
  const size_t kinds = 1 + random() % std::size(kPieces);
  std::string text;
  while (text.size() < size) {
    text += kPieces[(first + random() % kinds) % std::size(kPieces)];
  }
  return text;
}

// Parts of a text, scanned separately and combined, agree with a scan of the complete
// text.
TEST(SegmentBoundaries, AgreeWithAScanOfTheCompleteText) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::string text = RandomText(random, 20 + random() % 4000);
    const auto size = static_cast<int64_t>(text.size());
    std::vector<int64_t> targets;
    const int64_t step = 1 + static_cast<int64_t>(random() % 700);
    for (int64_t target = 1; target < size;
         target += 1 + static_cast<int64_t>(random()) % step) {
      targets.push_back(target);
    }
    RecordBoundaries whole(',', '"', 0, targets);
    whole.Feed(text);

    std::vector<int64_t> starts;
    bool in_quotes = false;
    size_t next = 0;
    for (int64_t begin = 0; begin < size;) {
      // A part begins before a target and not after a quote.
      size_t last = next;
      const auto begins_part = [&](int64_t at) {
        return at > begin && text[static_cast<size_t>(at - 1)] != '"';
      };
      while (last < targets.size() &&
             !(begins_part(targets[last] - 1) && random() % 3 == 0)) {
        ++last;
      }
      const int64_t end = last < targets.size() ? targets[last] - 1 : size;
      const char previous = begin == 0 ? '\n' : text[static_cast<size_t>(begin - 1)];
      SegmentBoundaries segment(',', '"', begin, previous,
                                {targets.begin() + static_cast<std::ptrdiff_t>(next),
                                 targets.begin() + static_cast<std::ptrdiff_t>(last)});
      const size_t chunk = 1 + random() % 2000;
      for (int64_t at = begin; at < end; at += static_cast<int64_t>(chunk)) {
        segment.Feed(std::string_view(text).substr(
            static_cast<size_t>(at), std::min(chunk, static_cast<size_t>(end - at))));
      }
      const auto found = segment.Found(in_quotes);
      for (const int64_t start : found.starts) {
        if (starts.empty() || start > starts.back()) starts.push_back(start);
      }
      in_quotes = found.in_quotes;
      begin = end;
      next = last;
    }
    ASSERT_EQ(starts, whole.starts()) << text;
    ASSERT_EQ(in_quotes, whole.in_quotes()) << text;
  }
}

class CsvCuts : public IoTest {
 protected:
  std::vector<Split> Cut(const std::vector<CsvText>& texts, const CsvCutting& cutting,
                         const CsvOptions& options = {}) {
    auto splits = CutCsvFiles(texts, cutting, options,
                              context_->MakeProbe(arrow::StopToken::Unstoppable()),
                              context_->memory_pool());
    EXPECT_TRUE(splits.ok()) << splits.status();
    return splits.ok() ? *splits : std::vector<Split>{};
  }
};

TEST_F(CsvCuts, DoNotDependOnTheNumberOfParts) {
  std::mt19937 random(8);
  for (int round = 0; round < 30; ++round) {
    std::vector<CsvText> texts;
    std::vector<int64_t> expected;
    constexpr int64_t kTarget = 50;
    for (const char* name : {"1.csv", "2.csv", "3.csv"}) {
      const auto text = RandomText(random, 10 + random() % 3000);
      const auto size = static_cast<int64_t>(text.size());
      const auto path = Write(name, text);
      texts.push_back({.file = {.path = path, .size = size}, .data_begin = 0});
      RecordBoundaries boundaries(',', '"', 0, EvenTargets(0, size, kTarget));
      boundaries.Feed(text);
      expected.push_back(0);
      for (const int64_t start : boundaries.starts()) {
        if (start < size) expected.push_back(start);
      }
    }
    for (const int64_t segment_bytes : {1, 64, 500, 1 << 20}) {
      const auto splits =
          Cut(texts, {.target_bytes = kTarget, .segment_bytes = segment_bytes});
      std::vector<int64_t> begins;
      for (const auto& split : splits) begins.push_back(split.begin);
      ASSERT_EQ(begins, expected) << "parts of " << segment_bytes;
    }
  }
}

TEST_F(CsvCuts, AreTheSameIfFoundNearTheirTargets) {
  std::mt19937 random(9);
  for (int round = 0; round < 12; ++round) {
    // Files in which a part shows its quoting state, and files in which none does.
    std::string text;
    constexpr std::string_view kFields[] = {
        "plain", "\"quoted\"", "\"a\n\"\"b\"\"\"", "\",\"", "\"\n\"", "5\"", "\"\""};
    const size_t first = random() % std::size(kFields);
    const size_t kinds = 1 + random() % std::size(kFields);
    while (text.size() < 1500000) {
      text += kFields[(first + random() % kinds) % std::size(kFields)];
      text += random() % 5 == 0 ? '\n' : ',';
    }
    text += "\n1\n";
    const auto size = static_cast<int64_t>(text.size());
    const auto path = Write("large.csv", text);
    constexpr int64_t kTarget = 300000;
    RecordBoundaries boundaries(',', '"', 0, EvenTargets(0, size, kTarget));
    boundaries.Feed(text);
    std::vector<int64_t> expected = boundaries.starts();
    expected.insert(expected.begin(), 0);
    const auto splits = Cut({{.file = {.path = path, .size = size}, .data_begin = 0}},
                            {.target_bytes = kTarget, .segment_bytes = 400000});
    std::vector<int64_t> begins;
    for (const auto& split : splits) begins.push_back(split.begin);
    ASSERT_EQ(begins, expected) << round;
  }
}

TEST_F(CsvCuts, DoNotCutSmallFiles) {
  const auto path = Write("a.csv", "a\n1\n\"2\n3");
  const std::vector<CsvText> texts{{.file = {.path = path, .size = 8}, .data_begin = 2}};
  // The open quote is not an error here: the reader reports its position.
  EXPECT_EQ(Cut(texts, {.target_bytes = 100, .segment_bytes = 1}).size(), 1);
  EXPECT_EQ(Cut(texts, {.target_bytes = 2, .segment_bytes = 1}).size(), 2);
  EXPECT_EQ(
      Cut(texts, {.target_bytes = 2, .segment_bytes = 1}, {.escapechar = '\\'}).size(),
      1);
  EXPECT_EQ(
      Cut(texts, {.target_bytes = 2, .segment_bytes = 1}, {.quotechar = std::nullopt})
          .size(),
      3);
}

TEST_F(CsvCuts, StopWhenAsked) {
  std::string text = "a\n";
  while (text.size() < 10000) text += "\"x\"\n";
  const auto path = Write("a.csv", text);
  arrow::StopSource stop;
  stop.RequestStop();
  const auto shards =
      ReadCsv(context_, path, {.split = {.num_partitions = 4}}, stop.token());
  EXPECT_TRUE(shards.status().IsCancelled()) << shards.status();
}

}  // namespace
}  // namespace xshards::io
