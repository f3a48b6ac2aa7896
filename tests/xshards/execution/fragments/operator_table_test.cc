// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/operator_table.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(OperatorTable, FindsExecutorsAndNamesMissingOnes) {
  OperatorTable table;
  table.SetScan("csv",
                [](const PlanNode&, const BatchStreams&, OperatorContext&)
                    -> arrow::Result<std::unique_ptr<BatchStream>> { return nullptr; });
  EXPECT_TRUE(table.Find(*MakeNode(ScanNode{.format = "csv"})).ok());
  EXPECT_FAILS(NotImplemented, "No reader for format 'xls'",
               table.Find(*MakeNode(ScanNode{.format = "xls"})));
  EXPECT_FAILS(NotImplemented, "No executor for Zip", table.Find(*MakeNode(ZipNode{})));
  EXPECT_FAILS(NotImplemented, "No writer for format 'xls'",
               table.FindSink({.kind = SinkKind::kWrite, .format = "xls"}));
}

}  // namespace
}  // namespace xshards
