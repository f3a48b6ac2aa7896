// SPDX-License-Identifier: Apache-2.0
#include "ops/join/match_pairs.h"

#include <utility>
#include <vector>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

constexpr uint32_t kNoRow = HeldRows::kNoRow;

class JoinPairsTest : public OperatorTest {
 protected:
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

  static Pairs Listed(const JoinPairs& pairs) {
    Pairs listed;
    for (size_t i = 0; i < pairs.size(); ++i) {
      listed.emplace_back(pairs.probe(i), pairs.held(i));
    }
    return listed;
  }

  JoinPairs pairs_{context_.pool};
};

/// Rows 0, 1 and 2 are of one key, 3 is alone.
struct FewRows {
  static uint32_t Next(uint32_t row) { return row < 2 ? row + 1 : kNoRow; }
  static void ReadAheadOf(uint32_t row) { EXPECT_LE(row, 3U); }
};

TEST_F(JoinPairsTest, ListsAllMatchesOfEachRow) {
  const ScratchVector<uint32_t> first = {3, 0, kNoRow, 1, kNoRow};
  const Pairs matches = {{0, 3}, {1, 0}, {1, 1}, {1, 2}, {3, 1}, {3, 2}};
  const Pairs with_lonely = {{0, 3},      {1, 0}, {1, 1}, {1, 2},
                             {2, kNoRow}, {3, 1}, {3, 2}, {4, kNoRow}};
  // Interrupted anywhere, within the matches of a row and before a row that has none.
  for (const bool lonely : {false, true}) {
    for (size_t room = 1; room <= with_lonely.size() + 1; ++room) {
      Pairs all;
      HeldRows::PairCursor at;
      while (at.row < first.size()) {
        pairs_.Start(room);
        ListPairsOf(FewRows{}, first, lonely, &at, &pairs_);
        ASSERT_LE(pairs_.size(), room);
        ASSERT_TRUE(pairs_.is_full() || at.row == first.size());
        for (const auto& pair : Listed(pairs_)) all.push_back(pair);
      }
      EXPECT_EQ(all, lonely ? with_lonely : matches) << room;
    }
  }
}

TEST_F(JoinPairsTest, ListsNothingForNoRows) {
  pairs_.Start(2);
  HeldRows::PairCursor at;
  ListPairsOf(FewRows{}, {}, true, &at, &pairs_);
  EXPECT_EQ(pairs_.size(), 0U);
  EXPECT_FALSE(pairs_.is_slice());
  EXPECT_EQ(pairs_.ProbeRows()->length(), 0);
  EXPECT_EQ(Get(pairs_.HeldRowsOrNull())->length(), 0);
}

TEST_F(JoinPairsTest, GivesRowNumbersOfBothSides) {
  pairs_.Start(4);
  pairs_.Add(5, 9);
  pairs_.Add(6, 8, /*is_pair=*/false);
  pairs_.Add(7, 2);
  ExpectArray(pairs_.ProbeRows(), Json(arrow::uint32(), "[5, 7]"));
  const auto all_there = Get(pairs_.HeldRowsOrNull());
  EXPECT_EQ(all_there->null_count(), 0);
  ExpectArray(all_there, Json(arrow::uint32(), "[9, 2]"));
  pairs_.Add(7, kNoRow);
  ExpectArray(Get(pairs_.HeldRowsOrNull()), Json(arrow::uint32(), "[9, 2, null]"));
}

TEST_F(JoinPairsTest, DetectsConsecutiveRows) {
  const auto is_slice = [&](const std::vector<size_t>& rows) {
    pairs_.Start(rows.size() + 1);
    for (const size_t row : rows) pairs_.Add(row, 0);
    return pairs_.is_slice();
  };
  EXPECT_TRUE(is_slice({4}));
  EXPECT_TRUE(is_slice({4, 5, 6}));
  EXPECT_FALSE(is_slice({4, 6}));
  EXPECT_FALSE(is_slice({4, 4}));
  EXPECT_FALSE(is_slice({4, 4, 6}));
}

}  // namespace
}  // namespace xshards::ops
