// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/stages/executor.h"

#include <algorithm>
#include <atomic>
#include <map>

#include <arrow/compute/cast.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::Ids;
using testing::Numbered;
using testing::NumberedShards;
using testing::TestContext;

class ExecutorTest : public ::testing::Test {
 protected:
  std::shared_ptr<Context> context_ = TestContext();
  XShards shards_ = NumberedShards(context_, 5, 20);
};

TEST_F(ExecutorTest, FusesNarrowNodesIntoOneStage) {
  ASSERT_OK(
      shards_.Filter(col("id") > lit(3)).WithColumn("x", col("id") * lit(2)).ToTable());
  auto profile = context_->last_profile();
  ASSERT_EQ(profile.stages.size(), 1);
  EXPECT_EQ(profile.stages[0].label, "Read partitions → Filter → Project");
  EXPECT_EQ(profile.stages[0].num_fragments, 5);
  EXPECT_EQ(profile.stages[0].metrics.rows_out, 96);
}

TEST_F(ExecutorTest, PartitionByKeepsEachKeyTogetherAndItsOrder) {
  auto parts = shards_.PartitionBy({"key"}, 3);
  ASSERT_OK_AND_ASSIGN(auto partitions, parts.Collect());
  ASSERT_EQ(partitions.size(), 3);
  std::map<std::string, size_t> home;
  int64_t rows = 0;
  for (size_t i = 0; i < partitions.size(); ++i) {
    ASSERT_OK_AND_ASSIGN(auto payloads, partitions[i].Load());
    std::map<std::string, int64_t> last;
    for (const auto& batch : payloads.at(0).batches()) {
      const auto& ids = static_cast<const arrow::Int64Array&>(*batch->column(0));
      const auto& keys = static_cast<const arrow::LargeStringArray&>(*batch->column(1));
      for (int64_t r = 0; r < batch->num_rows(); ++r, ++rows) {
        const std::string key = keys.IsNull(r) ? "<missing>" : keys.GetString(r);
        EXPECT_EQ(home.try_emplace(key, i).first->second, i) << key;
        auto [before, first] = last.try_emplace(key, -1);
        EXPECT_LT(before->second, ids.Value(r));
        before->second = ids.Value(r);
      }
    }
  }
  EXPECT_EQ(rows, 100);
  EXPECT_EQ(home.size(), 8);
}

TEST_F(ExecutorTest, RepartitionBalancesToWithinOneRowAndKeepsOrder) {
  for (int count : {1, 3, 7, 150}) {
    ASSERT_OK_AND_ASSIGN(auto partitions, shards_.Repartition(count).Collect());
    ASSERT_EQ(partitions.size(), static_cast<size_t>(count));
    for (const auto& partition : partitions) {
      EXPECT_GE(partition.num_rows(), 100 / count);
      EXPECT_LE(partition.num_rows(), 100 / count + 1);
    }
    ASSERT_OK_AND_ASSIGN(auto table, shards_.Repartition(count).ToTable());
    ASSERT_OK_AND_ASSIGN(auto original, shards_.ToTable());
    EXPECT_EQ(Ids(*table), Ids(*original));
  }
}

TEST_F(ExecutorTest, HeadRunsNoMorePartitionsThanItNeeds) {
  ASSERT_OK_AND_ASSIGN(auto table,
                       shards_.Filter(col("id") >= lit(0)).Head(25).ToTable());
  auto ids = Ids(*table);
  ASSERT_EQ(ids.size(), 25);
  EXPECT_EQ(ids.front(), 0);
  EXPECT_EQ(ids.back(), 24);
  int fragments = 0;
  for (const auto& stage : context_->last_profile().stages)
    fragments += stage.num_fragments;
  EXPECT_LE(fragments, 2 + 2);  // one wave of two, and the cut of the last partition
}

TEST_F(ExecutorTest, HeadOfZeroRowsAndOfMoreThanAllRows) {
  ASSERT_OK_AND_ASSIGN(auto none, shards_.Head(0).ToTable());
  EXPECT_EQ(none->num_rows(), 0);
  EXPECT_EQ(none->num_columns(), 3);
  ASSERT_OK_AND_ASSIGN(auto all, shards_.Head(1000).ToTable());
  EXPECT_EQ(all->num_rows(), 100);
}

TEST_F(ExecutorTest, SortOrdersAcrossPartitions) {
  ASSERT_OK_AND_ASSIGN(auto table, shards_.Sort({{"id", false}}).ToTable());
  auto ids = Ids(*table);
  ASSERT_EQ(ids.size(), 100);
  EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend()));
}

TEST_F(ExecutorTest, CacheRunsItsInputOnce) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  auto cached = shards_
                    .TransformShard([calls](const ShardView& shard) {
                      ++*calls;
                      return shard;
                    })
                    .Cache();
  EXPECT_FALSE(cached.is_cached());
  ASSERT_OK_AND_ASSIGN(int64_t first, cached.Count());
  ASSERT_OK_AND_ASSIGN(int64_t second, cached.Filter(col("id") < lit(50)).Count());
  EXPECT_EQ(first, 100);
  EXPECT_EQ(second, 50);
  EXPECT_EQ(*calls, 5);
  EXPECT_TRUE(cached.is_cached());
  cached.Uncache();
  ASSERT_OK(cached.Count());
  EXPECT_EQ(*calls, 10);
}

TEST_F(ExecutorTest, WidensPartitionsThatAFunctionMadeDifferent) {
  auto mixed =
      shards_.TransformShard([](const ShardView& shard) -> arrow::Result<ShardView> {
        auto first =
            std::static_pointer_cast<arrow::Int64Array>(shard.batch()->column(0));
        auto type = first->Value(0) == 0 ? arrow::float64() : arrow::int64();
        ARROW_ASSIGN_OR_RAISE(auto cast, arrow::compute::Cast(*first, type));
        return shard.WithColumn("id", cast);
      });
  ASSERT_OK_AND_ASSIGN(auto table, mixed.Filter(col("id") >= lit(0)).ToTable());
  EXPECT_EQ(table->schema()->field(0)->type()->id(), arrow::Type::DOUBLE);
  EXPECT_EQ(table->num_rows(), 100);
}

TEST_F(ExecutorTest, RowOperationsNeedTables) {
  ASSERT_OK_AND_ASSIGN(auto object, Payload::Object(arrow::Buffer::FromString("x"), {}));
  auto objects =
      XShards::FromPartitions(context_, {Partition::FromPayload(object)}, nullptr);
  EXPECT_FAILS(TypeError, "works on DataFrame shards, but these hold Object",
               objects.Filter(col("a") > lit(1)).ToTable());
}

TEST_F(ExecutorTest, ZipNeedsEqualPartitionCounts) {
  auto left = shards_.Select({{"a", col("id")}});
  auto right = shards_.Select({{"b", col("key")}});
  ASSERT_OK_AND_ASSIGN(auto table, left.Zip(right).ToTable());
  EXPECT_EQ(table->num_columns(), 2);
  EXPECT_EQ(table->num_rows(), 100);
  EXPECT_FAILS(Invalid, "got 5 and 2", left.Zip(right.Repartition(2)).ToTable());
}

TEST_F(ExecutorTest, UnionWidensItsBranchesFirst) {
  auto ints = testing::Batch(arrow::schema({arrow::field("k", arrow::int64()),
                                            arrow::field("v", arrow::int8())}),
                             R"([{"k": 1, "v": 1}, {"k": 1, "v": 2}])");
  auto floats =
      testing::Batch(arrow::schema({arrow::field("k", arrow::int64()),
                                    arrow::field("v", arrow::float64()),
                                    arrow::field("w", arrow::int64())}),
                     R"([{"k": 1, "v": 0.5, "w": 7}, {"k": 1, "v": 2.75, "w": 8}])");
  ASSERT_OK_AND_ASSIGN(auto left, XShards::FromBatches(context_, {ints}));
  ASSERT_OK_AND_ASSIGN(auto right, XShards::FromBatches(context_, {floats}));
  for (const auto& both : {left.Union(right), right.Union(left)}) {
    ASSERT_OK_AND_ASSIGN(
        auto table,
        both.GroupBy({"k"}, {{"sum", "v", "sum"}, {"max", "v", "max"}}).ToTable());
    auto expected =
        testing::Batch(table->schema(), R"([{"k": 1, "sum": 6.25, "max": 2.75}])");
    EXPECT_TRUE(table->CombineChunksToBatch().ValueOrDie()->Equals(*expected))
        << table->ToString();
    ASSERT_OK_AND_ASSIGN(auto some,
                         both.Filter(col("w") > lit(7)).Select({"w"}).ToTable());
    EXPECT_EQ(Ids(*some, "w"), (std::vector<int64_t>{8}));
    ASSERT_OK_AND_ASSIGN(auto rows, both.Distinct().Count());
    EXPECT_EQ(rows, 4);
  }
}

TEST_F(ExecutorTest, PythonFunctionsNeedARunner) {
  auto mapped =
      shards_.TransformPython({.function_hash = "h", .label = "f", .format = "pandas"});
  EXPECT_FAILS(NotImplemented, "no runner for Python functions", mapped.Collect());
}

TEST_F(ExecutorTest, PythonFunctionsOfPairsNeedEqualPartitionCounts) {
  const MapPythonNode function{.function_hash = "h", .label = "f", .format = "pandas"};
  EXPECT_FAILS(NotImplemented, "no runner for Python functions",
               shards_.TransformPython(function, shards_).Collect());
  EXPECT_FAILS(Invalid, "the same number of partitions on both sides; got 5 and 2",
               shards_.TransformPython(function, shards_.Repartition(2)).Collect());
}

}  // namespace
}  // namespace xshards
