// SPDX-License-Identifier: Apache-2.0
#include "io/options/split_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMegabyte = 1LL << 20;

TEST(SplitSize, CutsEightPiecesForEachCore) {
  EXPECT_EQ(SplitSize{}.TargetBytes(320 * kMegabyte, 2), 20 * kMegabyte);
  EXPECT_EQ(SplitSize{}.TargetBytes(320 * kMegabyte, 4), 10 * kMegabyte);
}

TEST(SplitSize, PiecesAreNeitherTinyNorHuge) {
  EXPECT_EQ(SplitSize{}.TargetBytes(0, 2), 4 * kMegabyte);
  EXPECT_EQ(SplitSize{}.TargetBytes(kMegabyte, 64), 4 * kMegabyte);
  EXPECT_EQ(SplitSize{}.TargetBytes(1LL << 40, 2), 64 * kMegabyte);
}

TEST(SplitSize, UsesTheRequestedSize) {
  EXPECT_EQ(SplitSize{.num_partitions = 3}.TargetBytes(100, 2), 34);
  EXPECT_EQ(SplitSize{.num_partitions = 3}.TargetBytes(0, 2), 1);
  EXPECT_EQ(SplitSize{.block_size = 7}.TargetBytes(100, 2), 7);
  EXPECT_FALSE(SplitSize{.num_partitions = -1}.Validate().ok());
  EXPECT_FALSE(SplitSize{.block_size = -1}.Validate().ok());
}

TEST(SplitSize, CutsNothingForFewRows) {
  EXPECT_EQ(SplitSize{.block_size = 7}.TargetBytes(100, 2, 999999), 100);
  EXPECT_EQ(SplitSize{.block_size = 7}.TargetBytes(100, 2, 1000000), 7);
  EXPECT_EQ(SplitSize{}.TargetBytes(0, 2, 0), 1);
}

TEST(NumPieces, RemainderBelowAQuarterJoinsTheLastPiece) {
  EXPECT_EQ(NumPieces(0, 100), 1);
  EXPECT_EQ(NumPieces(100, 100), 1);
  EXPECT_EQ(NumPieces(125, 100), 1);
  EXPECT_EQ(NumPieces(126, 100), 2);
  EXPECT_EQ(NumPieces(7, 1), 7);
  EXPECT_EQ(NumPieces(7, 3), 3);
}

TEST(SplitSize, CutsIntoEqualParts) {
  EXPECT_THAT(EvenTargets(0, 10, 5), ElementsAre(5));
  EXPECT_THAT(EvenTargets(0, 10, 3), ElementsAre(3, 6, 8));
  EXPECT_THAT(EvenTargets(0, 10, 100), ElementsAre());
  EXPECT_THAT(EvenTargets(5, 5, 100), ElementsAre());
  EXPECT_EQ(EvenTargets(0, int64_t{1} << 50, int64_t{1} << 30).back() >> 30,
            (1 << 20) - 1);
}

}  // namespace
}  // namespace xshards::io
