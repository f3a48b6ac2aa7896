// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/storage/batch_stream.h"

namespace xshards {
namespace {

using testing::Numbered;

TEST(CoreOperators, PublishKeepsTheSchemaOfAnEmptyStream) {
  auto context = testing::TestContext();
  OperatorTable table;
  AddCoreOperators(table);
  SinkSpec sink;
  ASSERT_OK_AND_ASSIGN(auto run, table.FindSink(sink));
  VectorStream stream(Numbered(0)->schema(), {});
  BlockWriter writer(context->storage(), Storage::kHeap);
  FragmentMetrics metrics;
  OperatorContext operator_context{.metrics = &metrics};
  ASSERT_OK((*run)(sink, stream, writer, operator_context));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  ASSERT_EQ(store->num_blocks(), 1);
  EXPECT_TRUE(store->blocks()[0].schema->Equals(*Numbered(0)->schema()));
}

TEST(CoreOperators, CountAddsRows) {
  auto context = testing::TestContext();
  OperatorTable table;
  AddCoreOperators(table);
  SinkSpec sink{.kind = SinkKind::kCount};
  ASSERT_OK_AND_ASSIGN(auto run, table.FindSink(sink));
  VectorStream stream(Numbered(0)->schema(), {Numbered(3), Numbered(0), Numbered(4)});
  BlockWriter writer(context->storage(), Storage::kHeap);
  FragmentMetrics metrics;
  OperatorContext operator_context{.metrics = &metrics};
  ASSERT_OK((*run)(sink, stream, writer, operator_context));
  EXPECT_EQ(metrics.rows_out, 7);
}

}  // namespace
}  // namespace xshards
