// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/plan.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(Plan, NodeKindFollowsTheVariant) {
  EXPECT_EQ(MakeNode(ScanNode{})->kind(), NodeKind::kScan);
  EXPECT_EQ(MakeNode(FilterNode{lit(true)})->kind(), NodeKind::kFilter);
  EXPECT_EQ(MakeNode(CacheNode{})->kind(), NodeKind::kCache);
  static_assert(std::variant_size_v<NodeVariant> == kNumNodeKinds);
}

TEST(Plan, DescribesEachNodeInOneLine) {
  EXPECT_EQ(Describe(*MakeNode(FilterNode{col("a") > lit(3)})), "Filter (a > 3)");
  EXPECT_EQ(Describe(*MakeNode(ExchangeNode{
                .mode = ExchangeMode::kHash, .keys = {"a", "b"}, .num_partitions = 8})),
            "Exchange by hash of a, b into 8");
  EXPECT_EQ(Describe(*MakeNode(SortNode{.keys = {{"a", true}, {"b", false}}})),
            "Sort by a, b descending");
  EXPECT_EQ(Describe(*MakeNode(JoinNode{
                .type = JoinType::kLeft, .left_keys = {"a"}, .right_keys = {"b"}})),
            "Join left on a = b");
  EXPECT_EQ(Describe(*MakeNode(MapNativeNode{})),
            "MapNative <unregistered: stays in this process>");
}

TEST(Plan, TellsWhetherItGivesTables) {
  const auto rows = testing::Numbered(2);
  const auto table = Partition::FromPayload(Payload::Table(rows->schema(), {rows}));
  ASSERT_OK_AND_ASSIGN(auto object, Payload::Object(arrow::Buffer::FromString("x"), {}));
  const auto tables = MakeNode(LiteralNode{rows->schema(), {table}});
  const auto objects = MakeNode(LiteralNode{nullptr, {Partition::FromPayload(object)}});
  const auto mapped = MakeNode(MapPythonNode{}, {tables});
  EXPECT_TRUE(GivesTables(*tables));
  EXPECT_FALSE(GivesTables(*objects));
  EXPECT_FALSE(GivesTables(*mapped));
  EXPECT_TRUE(GivesTables(*MakeNode(FilterNode{lit(true)}, {mapped})));
  EXPECT_TRUE(GivesTables(*MakeNode(UnionNode{}, {tables, tables})));
  EXPECT_FALSE(GivesTables(*MakeNode(UnionNode{}, {tables, mapped})));
  EXPECT_FALSE(GivesTables(*MakeNode(CacheNode{}, {mapped})));
  CacheNode filled;
  filled.partitions = std::make_shared<const std::vector<Partition>>(1, table);
  EXPECT_TRUE(GivesTables(*MakeNode(filled, {mapped})));
}

}  // namespace
}  // namespace xshards
