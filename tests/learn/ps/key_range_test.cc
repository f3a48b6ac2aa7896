// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/key_range.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

ParameterLayout LayoutOf(const std::vector<ParameterSpec>& specs) {
  return ParameterLayout::Make(specs).ValueOrDie();
}

ParameterLayout AwkwardLayout() {
  return LayoutOf({{.name = "wide", .count = 5000, .type = ParameterType::kFloat64},
                   {.name = "large", .count = 100'001},
                   {.name = "none", .count = 0},
                   {.name = "one", .count = 1}});
}

TEST(KeyRange, BlocksCoverEveryElementOnceInKeyOrder) {
  const auto layout = AwkwardLayout();
  std::vector<int64_t> covered(4, 0);
  int64_t last = -1;
  for (const Block& block : CutIntoBlocks(layout)) {
    const auto index = static_cast<size_t>(block.parameter);
    const Parameter& parameter = layout.parameters()[index];
    EXPECT_EQ(block.offset, parameter.offset + covered[index] * SizeOf(parameter.type));
    EXPECT_EQ(block.offset % 64, 0);
    EXPECT_GT(block.offset, last);
    EXPECT_GE(block.count, 1);
    EXPECT_LE(block.count * SizeOf(parameter.type), kBlockBytes);
    covered[index] += block.count;
    last = block.offset;
  }
  EXPECT_EQ(covered, (std::vector<int64_t>{5000, 100'001, 0, 1}));
}

TEST(KeyRange, RangesCoverAllKeysForAnyNumberOfOwners) {
  const auto layout = AwkwardLayout();
  const auto blocks = CutIntoBlocks(layout);
  for (int owners : {1, 2, 3, 7, 1000}) {
    const auto ranges = SplitKeys(layout, blocks, owners);
    ASSERT_EQ(ranges.size(), static_cast<size_t>(owners));
    int64_t next = 0;
    size_t num_blocks = 0;
    for (KeyRange range : ranges) {
      EXPECT_EQ(range.begin, next);
      EXPECT_LE(range.begin, range.end);
      num_blocks += BlocksIn(blocks, range).size();
      next = range.end;
    }
    EXPECT_EQ(next, layout.vector_bytes());
    EXPECT_EQ(num_blocks, blocks.size());
  }
}

TEST(KeyRange, SharesAreNearlyEqual) {
  const auto layout = LayoutOf({{.name = "w", .count = 1'000'000}});
  const auto blocks = CutIntoBlocks(layout);
  for (KeyRange range : SplitKeys(layout, blocks, 4)) {
    EXPECT_NEAR(static_cast<double>(range.end - range.begin), 1e6,
                static_cast<double>(kBlockBytes));
  }
}

TEST(KeyRange, ModelWithoutElementsHasEmptyRanges) {
  const auto layout = LayoutOf({{.name = "none", .count = 0}});
  const auto blocks = CutIntoBlocks(layout);
  EXPECT_TRUE(blocks.empty());
  EXPECT_EQ(SplitKeys(layout, blocks, 2), (std::vector<KeyRange>{{0, 0}, {0, 0}}));
}

}  // namespace
}  // namespace xshards::learn
