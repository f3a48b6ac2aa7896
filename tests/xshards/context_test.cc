// SPDX-License-Identifier: Apache-2.0
#include "xshards/context.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::Ids;
using testing::NumberedShards;
using testing::TemporaryDirectory;
using testing::TestContext;

TEST(Context, RejectsInvalidOptions) {
  EXPECT_FAILS(Invalid, "cores must be at least 1", Context::Make({.cores = -1}));
  EXPECT_FAILS(Invalid, "memory must be at least 16 MB",
               Context::Make({.memory_bytes = 1000}));
  EXPECT_FAILS(IOError, "'/no/such/place'",
               Context::Make({.spill_directory = "/no/such/place"}));
}

TEST(Context, TakesTheMachinesCoresAndMemoryByDefault) {
  ASSERT_OK_AND_ASSIGN(auto context, Context::Make());
  EXPECT_GE(context->cores(), 1);
  EXPECT_GT(context->memory_bytes(), 1LL << 28);
}

TEST(Context, TwoContextsCoexist) {
  auto one = TestContext({.cores = 1, .memory_bytes = 1LL << 28});
  auto two = TestContext({.cores = 2, .memory_bytes = 1LL << 28});
  ASSERT_OK_AND_ASSIGN(int64_t first, NumberedShards(one, 3, 10).Count());
  ASSERT_OK_AND_ASSIGN(int64_t second, NumberedShards(two, 2, 10).Count());
  EXPECT_EQ(first, 30);
  EXPECT_EQ(second, 20);
}

TEST(Context, PartitionByAndCacheSpillAndGiveTheSameRows) {
  TemporaryDirectory spill;
  auto small = TestContext(
      {.cores = 2, .memory_bytes = 16LL << 20, .spill_directory = spill.path()});
  auto large = TestContext();
  // About 50 MB in 20 partitions, made as it is read so that the input is not in memory.
  auto build = [](const std::shared_ptr<Context>& context) {
    return NumberedShards(context, 20, 10)
        .TransformShard([](const ShardView& shard) -> arrow::Result<ShardView> {
          ARROW_ASSIGN_OR_RAISE(auto ids, shard.column("id"));
          const auto first = static_cast<const arrow::Int64Array&>(*ids).Value(0);
          return ShardView(testing::Numbered(100000, 7, first * 10000));
        })
        .PartitionBy({"key"}, 8)
        .Cache();
  };
  auto spilled = build(small);
  auto kept = build(large);
  ASSERT_OK_AND_ASSIGN(auto actual, spilled.Collect());
  EXPECT_GT(small->budget().spilled_bytes(), 0);
  ASSERT_OK_AND_ASSIGN(auto expected, kept.Collect());
  EXPECT_EQ(large->budget().spilled_bytes(), 0);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_OK_AND_ASSIGN(auto one, actual[i].Load());
    ASSERT_OK_AND_ASSIGN(auto other, expected[i].Load());
    ASSERT_OK_AND_ASSIGN(auto left, arrow::Table::FromRecordBatches(one.at(0).batches()));
    ASSERT_OK_AND_ASSIGN(auto right,
                         arrow::Table::FromRecordBatches(other.at(0).batches()));
    EXPECT_TRUE(left->Equals(*right)) << "partition " << i;
  }
  EXPECT_TRUE(spill.List().empty());
}

TEST(Context, FreesAllMemoryWithTheShards) {
  auto context = TestContext();
  {
    auto cached = NumberedShards(context, 3, 1000).PartitionBy({"key"}, 4).Cache();
    ASSERT_OK(cached.Count());
    EXPECT_GT(context->budget().used(), 0);
  }
  EXPECT_EQ(context->budget().used(), 0);
}

TEST(Context, FailedWriteLeavesNoFiles) {
  TemporaryDirectory root;
  auto context = TestContext();
  auto shards =
      NumberedShards(context, 4, 10)
          .TransformShard([](const ShardView& shard) -> arrow::Result<ShardView> {
            ARROW_ASSIGN_OR_RAISE(auto ids, shard.column("id"));
            const auto first = static_cast<const arrow::Int64Array&>(*ids).Value(0);
            if (first == 30) return arrow::Status::Invalid("the last one fails");
            return shard;
          });
  EXPECT_FAILS(Invalid, "the last one fails", shards.WriteParquet(root.File("out")));
  EXPECT_TRUE(root.List().empty());
}

TEST(Context, StopsAnActionWhenAsked) {
  auto context = TestContext();
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_FAILS(
      Cancelled, "",
      NumberedShards(context, 3, 10).Filter(col("id") > lit(1)).ToTable(source.token()));
}

TEST(Context, WritesOneFilePerPartitionThatReadsBackEqual) {
  TemporaryDirectory root;
  auto context = TestContext();
  auto shards = NumberedShards(context, 3, 10);
  ASSERT_OK_AND_ASSIGN(auto paths, shards.Write(root.File("out"), "parquet"));
  ASSERT_EQ(paths.size(), 3);
  EXPECT_EQ(paths[1], root.File("out") + "/part-00001.parquet");
  EXPECT_FAILS(IOError, "not empty", shards.WriteParquet(root.File("out")));
}

}  // namespace
}  // namespace xshards
