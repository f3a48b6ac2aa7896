// SPDX-License-Identifier: Apache-2.0
#include "ops/operators.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

TEST(Operators, CoverEveryNodeOfThisFolder) {
  OperatorTable table;
  AddOperators(table);
  for (const NodeVariant& node :
       {NodeVariant(ProjectNode{}), NodeVariant(FilterNode{lit(true)}),
        NodeVariant(MapNativeNode{}), NodeVariant(AggregateNode{}),
        NodeVariant(JoinNode{}), NodeVariant(SortNode{}), NodeVariant(LimitNode{}),
        NodeVariant(DistinctNode{}), NodeVariant(UnionNode{}), NodeVariant(ZipNode{}),
        NodeVariant(SampleNode{})}) {
    EXPECT_TRUE(table.Find(*MakeNode(node)).ok());
  }
  EXPECT_TRUE(table.FindSink({.kind = SinkKind::kPartition}).ok());
}

}  // namespace
}  // namespace xshards::ops
