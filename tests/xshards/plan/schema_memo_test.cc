// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/schema_memo.h"

#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "xshards/plan/plan.h"

namespace xshards {
namespace {

TEST(SchemaMemo, AsksOnceAndRemembersErrors) {
  const SchemaMemo memo;
  int asked = 0;
  const auto find = [&]() -> SchemaMemo::Schema {
    ++asked;
    return arrow::Status::KeyError("no column");
  };
  EXPECT_TRUE(memo.Get(find).status().IsKeyError());
  EXPECT_TRUE(memo.Get(find).status().IsKeyError());
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(SchemaMemo(memo).Get(find).status().IsKeyError());
  EXPECT_EQ(asked, 2);
}

TEST(SchemaMemo, MakesTheSchemaOfALongPlanOnce) {
  ASSERT_OK(arrow::compute::Initialize());
  const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
  Plan plan = MakeNode(ScanNode{.format = "csv", .schema = schema});
  for (int i = 0; i < 50; ++i) {
    ProjectNode project{.names = {"c" + std::to_string(i)},
                        .expressions = {col("a") + lit(i)},
                        .keep_input = true,
                        .drop = {}};
    plan = MakeNode(std::move(project), {std::move(plan)});
  }
  ASSERT_OK_AND_ASSIGN(const auto first, OutputSchema(*plan));
  EXPECT_EQ(first->num_fields(), 51);
  ASSERT_OK_AND_ASSIGN(const auto second, OutputSchema(*plan));
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace xshards
