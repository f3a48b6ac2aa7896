// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/stage_label.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(StageLabel, ReadsInTheOrderOfTheData) {
  auto tree =
      MakeNode(FilterNode{col("a") > lit(1)}, {MakeNode(ScanNode{.format = "csv"})});
  EXPECT_EQ(StageLabel(*tree, {.kind = SinkKind::kPartition, .num_partitions = 8}),
            "Scan csv → Filter → partition into 8");
  EXPECT_EQ(StageLabel(*tree, {.kind = SinkKind::kPublish}), "Scan csv → Filter");
}

TEST(StageLabel, ListsThePartsOfAPartitionOnce) {
  const auto part = MakeNode(SortNode{}, {MakeNode(ScanNode{.format = "csv"})});
  EXPECT_EQ(StageLabel(*MakeNode(UnionNode{}, {part, part}), {.kind = SinkKind::kCount}),
            "Scan csv → Sort → count");
}

}  // namespace
}  // namespace xshards
