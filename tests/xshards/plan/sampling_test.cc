// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/sampling.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace xshards {
namespace {

TEST(RowDraw, IsTheSameInEveryVersion) {
  EXPECT_EQ(DrawKey(0, 0), 5197578548964807871ULL);
  EXPECT_EQ(DrawKey(0, 1), 5199774590669546748ULL);
  EXPECT_EQ(DrawKey(7, 0), 8409816773569330625ULL);
  EXPECT_EQ(DrawKey(7, 123456789), 2844309948111725318ULL);
  EXPECT_EQ(DrawRow(0, 0, 1000), 281);
  EXPECT_EQ(DrawRow(0, 1, 1000), 281);
  EXPECT_EQ(DrawRow(7, 0, 1000), 455);
  EXPECT_EQ(DrawRow(7, 123456789, 1000), 154);
}

TEST(RowDraw, TheBoundLeavesAsManyRowsAsWanted) {
  for (int64_t num_rows : {1, 2, 10, 1000, 100'000}) {
    for (int64_t count : {int64_t{0}, int64_t{1}, num_rows / 3, num_rows - 1, num_rows}) {
      const auto bound = FirstNotDrawn(3, num_rows, count);
      int64_t drawn = 0;
      for (int64_t row = 0; row < num_rows; ++row) {
        if (DrawOrder{DrawKey(3, row), row} < bound) ++drawn;
      }
      EXPECT_EQ(drawn, count) << num_rows;
    }
  }
}

TEST(RowDraw, EveryRowIsAboutAsLikelyWithReplacement) {
  constexpr int64_t kNumRows = 7;
  constexpr int64_t kDraws = 70'000;
  std::vector<int64_t> counts(kNumRows);
  for (int64_t i = 0; i < kDraws; ++i) {
    const int64_t row = DrawRow(11, i, kNumRows);
    ASSERT_GE(row, 0);
    ASSERT_LT(row, kNumRows);
    ++counts[static_cast<size_t>(row)];
  }
  // Five standard deviations of a binomial count.
  for (int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 10'000, 470);
}

TEST(RowDraw, FractionsAreBelowOne) {
  double smallest = 1;
  double largest = 0;
  for (int64_t i = 0; i < 100'000; ++i) {
    const double fraction = DrawFraction(5, i);
    smallest = std::min(smallest, fraction);
    largest = std::max(largest, fraction);
  }
  EXPECT_GE(smallest, 0);
  EXPECT_LT(smallest, 0.001);
  EXPECT_LT(largest, 1);
  EXPECT_GT(largest, 0.999);
}

TEST(RowDraw, WeightMovesRowsForward) {
  int64_t heavy_first = 0;
  for (int64_t row = 0; row < 10'000; ++row) {
    const auto heavy = WeightedDrawKey(1, 2 * row, 3);
    const auto light = WeightedDrawKey(1, 2 * row + 1, 1);
    if (heavy < light) ++heavy_first;
  }
  // The chance is 3 / (3 + 1).
  EXPECT_NEAR(static_cast<double>(heavy_first), 7500, 220);
  EXPECT_EQ(WeightedDrawKey(1, 0, 0), kDrawAll.key);
}

}  // namespace
}  // namespace xshards
