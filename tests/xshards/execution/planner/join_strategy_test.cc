// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/join_strategy.h"

#include <gtest/gtest.h>

namespace xshards {
namespace {

constexpr int64_t kMemory = 800;

JoinChoice Choose(JoinType type, int64_t left, int64_t right) {
  return ChooseJoin({.type = type}, left, right, kMemory);
}

TEST(JoinChoice, BroadcastsASideOfAtMostAnEighthOfTheBudget) {
  EXPECT_TRUE(Choose(JoinType::kInner, 1000, 100).hold_all);
  EXPECT_FALSE(Choose(JoinType::kInner, 1000, 101).hold_all);
}

TEST(JoinChoice, BuildsOnTheLeftOfAnInnerJoinOnlyIfFarSmaller) {
  EXPECT_TRUE(Choose(JoinType::kInner, 40, 100).build_left);
  EXPECT_FALSE(Choose(JoinType::kInner, 60, 100).build_left);
}

TEST(JoinChoice, NeverBroadcastsASideWhoseRowsAreAllKept) {
  for (auto type : {JoinType::kLeft, JoinType::kSemi, JoinType::kAnti}) {
    EXPECT_FALSE(Choose(type, 1, 100).build_left);
    EXPECT_FALSE(Choose(type, 1, 1000).hold_all);
  }
  EXPECT_TRUE(Choose(JoinType::kRight, 100, 1).build_left);
  EXPECT_FALSE(Choose(JoinType::kOuter, 1, 1).hold_all);
}

TEST(JoinChoice, CrossJoinBuildsOnTheSmallerSide) {
  EXPECT_TRUE(Choose(JoinType::kCross, 5000, 9000).hold_all);
}

TEST(JoinChoice, IsOpenIfSizesAreUnknown) {
  const auto choice = Choose(JoinType::kInner, -1, 5);
  EXPECT_FALSE(choice.hold_all);
  EXPECT_EQ(choice.algorithm.algorithm, Algorithm::kUndecidedJoin);
  EXPECT_TRUE(choice.algorithm.ToString().starts_with("hash join: the smaller side "));
}

TEST(JoinChoice, EnoughPartitionsForTheBuildSideToFit) {
  const JoinNode inner;
  EXPECT_EQ(NumJoinPartitions(inner, {3, 10}, {5, 10}, 2400), 5);
  // A 24th of the budget each.
  EXPECT_EQ(NumJoinPartitions(inner, {3, 10}, {5, 1000}, 2400), 10);
  EXPECT_EQ(NumJoinPartitions(inner, {3, 10}, {5, 1001}, 2400), 11);
  EXPECT_EQ(NumJoinPartitions({.build_left = true}, {3, 10}, {5, 1000}, 2400), 5);
  EXPECT_EQ(NumJoinPartitions(inner, {0, 0}, {0, 0}, 2400), 1);
}

TEST(JoinChoice, EnoughPartsForTheTableToFitTheCache) {
  constexpr int64_t kInCache = 1 << 20;
  const auto parts = [](const JoinNode& join, int64_t held, int32_t num_partitions) {
    return NumJoinParts(join, {8, 256 << 20}, {8, held}, num_partitions);
  };
  const JoinNode inner;
  EXPECT_EQ(parts(inner, 0, 8), 1);
  EXPECT_EQ(parts(inner, 8 * kInCache, 8), 1);
  EXPECT_EQ(parts(inner, 8 * kInCache + 8, 8), 2);
  EXPECT_EQ(parts(inner, 80 * kInCache, 8), 10);
  // The total is at most 512, or the number of partitions.
  EXPECT_EQ(parts(inner, int64_t{1} << 50, 8), 64);
  EXPECT_EQ(parts(inner, int64_t{1} << 50, 1000), 1);
  EXPECT_EQ(parts({.type = JoinType::kRight}, 0, 8), 32);
}

}  // namespace
}  // namespace xshards
