// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/group_splits.h"

#include <random>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

TEST(GroupSplits, CoverAllGroupsInOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<Group> groups(random() % 20);
    for (auto& group : groups)
      group = {.num_bytes = static_cast<int64_t>(1 + random() % 1000), .num_rows = 10};
    const auto splits = CutGroups("p", groups, static_cast<int64_t>(1 + random() % 3000));
    ASSERT_FALSE(splits.empty());
    int64_t at = 0;
    for (const auto& split : splits) {
      EXPECT_EQ(split.begin, at);
      EXPECT_EQ(split.num_rows, (split.end - split.begin) * 10);
      EXPECT_TRUE(groups.empty() || split.end > split.begin);
      at = split.end;
    }
    EXPECT_EQ(at, static_cast<int64_t>(groups.size()));
  }
}

TEST(GroupSplits, EqualGroupsMakeEqualSplits) {
  const std::vector<Group> groups(12, {.num_bytes = 100});
  for (const auto& split : CutGroups("p", groups, 300)) {
    EXPECT_EQ(split.end - split.begin, 3);
    EXPECT_EQ(split.num_rows, -1);
  }
}

TEST(GroupSplits, FilesOfNearlyEqualSizeGetEqualSplits) {
  const std::vector<Group> smaller(8, {.num_bytes = 999});
  const std::vector<Group> larger(8, {.num_bytes = 1001});
  EXPECT_EQ(CutGroups("p", smaller, 4000).size(), 2U);
  EXPECT_EQ(CutGroups("p", larger, 4000).size(), 2U);
}

}  // namespace
}  // namespace xshards::io
