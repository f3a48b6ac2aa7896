// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/row_ranges.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

TEST(RowRanges, IntersectAsSetsOfRowsDo) {
  std::mt19937 random(2);
  const auto draw = [&] {
    RowRanges ranges;
    for (int64_t row = 0; row < 40;) {
      const int64_t begin = row + 1 + static_cast<int64_t>(random() % 6);
      const int64_t end = begin + 1 + static_cast<int64_t>(random() % 9);
      if (random() % 3 > 0) ranges.push_back({begin, end});
      row = end;
    }
    return ranges;
  };
  const auto rows_of = [](const RowRanges& ranges) {
    std::set<int64_t> rows;
    for (const auto& range : ranges) {
      for (int64_t row = range.begin; row < range.end; ++row) rows.insert(row);
    }
    return rows;
  };
  for (int i = 0; i < 500; ++i) {
    const auto left = draw();
    const auto right = draw();
    std::set<int64_t> expected;
    const auto in_right = rows_of(right);
    for (const int64_t row : rows_of(left)) {
      if (in_right.contains(row)) expected.insert(row);
    }
    const auto both = Intersect(left, right);
    EXPECT_EQ(rows_of(both), expected);
    for (const auto& range : both) EXPECT_LT(range.begin, range.end);
  }
}

}  // namespace
}  // namespace xshards::io
