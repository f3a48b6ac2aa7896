// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/execution/fragments/operator_table.h"

namespace xshards {
namespace {

TEST(DefaultOperators, CoverEveryFormatAndEverySink) {
  auto table = DefaultOperators();
  for (const char* format : {"csv", "json", "parquet", "ipc"}) {
    EXPECT_TRUE(table->Find(*MakeNode(ScanNode{.format = format})).ok()) << format;
    EXPECT_TRUE(table->FindSink({.kind = SinkKind::kWrite, .format = format}).ok())
        << format;
  }
  for (auto kind : {SinkKind::kPublish, SinkKind::kPartition, SinkKind::kCount}) {
    EXPECT_TRUE(table->FindSink({.kind = kind}).ok()) << static_cast<int>(kind);
  }
}

TEST(DefaultOperators, CoverEveryNodeAFragmentCanHold) {
  auto table = DefaultOperators();
  const std::vector<NodeVariant> nodes = {
      LiteralNode{},   ProjectNode{},   FilterNode{lit(true)},
      MapNativeNode{}, AggregateNode{}, JoinNode{},
      SortNode{},      LimitNode{},     ZipNode{},
      SampleNode{},    DistinctNode{}};
  for (const auto& node : nodes) {
    EXPECT_TRUE(table->Find(*MakeNode(node)).ok()) << Describe(*MakeNode(node));
  }
}

}  // namespace
}  // namespace xshards
