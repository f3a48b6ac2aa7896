// SPDX-License-Identifier: Apache-2.0
#include "xshards/function/shard_view.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Array;
using testing::Numbered;

TEST(ShardView, FindsColumnsAndListsThemInErrors) {
  ShardView shard(Numbered(3));
  ASSERT_OK_AND_ASSIGN(auto ids, shard.column("id"));
  EXPECT_TRUE(ids->Equals(Array(arrow::int64(), "[0, 1, 2]")));
  EXPECT_FAILS(KeyError, "'nope'; there are: id, key, value", shard.column("nope"));
}

TEST(ShardView, WithColumnReplacesOrAddsAndLeavesTheOriginal) {
  ShardView shard(Numbered(2));
  ASSERT_OK_AND_ASSIGN(auto replaced,
                       shard.WithColumn("id", Array(arrow::int8(), "[5, 6]")));
  EXPECT_EQ(replaced.schema()->field(0)->type()->id(), arrow::Type::INT8);
  ASSERT_OK_AND_ASSIGN(auto added,
                       shard.WithColumn("new", Array(arrow::int8(), "[5, 6]")));
  EXPECT_EQ(added.schema()->field_names().back(), "new");
  EXPECT_EQ(shard.schema()->num_fields(), 3);
}

}  // namespace
}  // namespace xshards
