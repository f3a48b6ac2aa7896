// SPDX-License-Identifier: Apache-2.0
#include "xshards/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TestContext;

class OptimizerTest : public ::testing::Test {
 protected:
  Plan Scan() const {
    return MakeNode(ScanNode{.format = "csv",
                             .schema = Numbered(0)->schema(),
                             .splits = {{.path = "a"}, {.path = "b"}}});
  }
  XShards Shards() const { return {context_, Scan()}; }
  static const ScanNode& ScanOf(const Plan& plan) {
    return plan->inputs.empty() ? plan->as<ScanNode>() : ScanOf(plan->inputs[0]);
  }
  static std::vector<NodeKind> Kinds(const Plan& plan) {
    std::vector<NodeKind> kinds = {plan->kind()};
    for (Plan node = plan; !node->inputs.empty();) {
      node = node->inputs[0];
      kinds.push_back(node->kind());
    }
    return kinds;
  }

  std::shared_ptr<Context> context_ = TestContext();
};

TEST_F(OptimizerTest, ReadsOnlyTheColumnsThatAreUsed) {
  auto plan =
      Shards().Filter(col("value") > lit(1.0)).Select(std::vector<std::string>{"id"});
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(plan.plan()));
  EXPECT_EQ(*ScanOf(optimized).columns, (std::vector<std::string>{"id", "value"}));
}

TEST_F(OptimizerTest, StopsBetweenRules) {
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_TRUE(Optimize(Scan(), source.token()).status().IsCancelled());
}

TEST_F(OptimizerTest, DoesNotWriteOutWhatALoopHasBuilt) {
  // Fused without a bound, and written out, the expression would have 2^400 calls.
  XShards shards = Shards();
  for (int i = 0; i < 400; ++i) {
    shards = shards.WithColumn("value", col("value") * (lit(1.0) - col("value")));
  }
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(shards.plan()));
  const auto kinds = Kinds(optimized);
  EXPECT_GT(kinds.size(), 2);
  EXPECT_LT(kinds.size(), 20);
}

TEST_F(OptimizerTest, ReadsAllColumnsIfAllAreUsed) {
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(Shards().PartitionBy({"key"}).plan()));
  EXPECT_FALSE(ScanOf(optimized).columns.has_value());
}

TEST_F(OptimizerTest, ReadsNoColumnToCountRows) {
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(MakeNode(ProjectNode{}, {Scan()})));
  EXPECT_TRUE(ScanOf(optimized).columns->empty());
}

TEST_F(OptimizerTest, MovesAFilterBelowSelectionExchangeAndSort) {
  auto plan = Shards()
                  .WithColumn("twice", col("value") * lit(2.0))
                  .PartitionBy({"key"}, 4)
                  .Sort({{"id", true}})
                  .Filter(col("twice") > lit(4.0));
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(plan.plan()));
  EXPECT_EQ(
      Kinds(optimized),
      (std::vector<NodeKind>{NodeKind::kSort, NodeKind::kExchange, NodeKind::kProject,
                             NodeKind::kFilter, NodeKind::kScan}));
  EXPECT_TRUE(ScanOf(optimized).filter->Equals(col("value") * lit(2.0) > lit(4.0)));
}

TEST_F(OptimizerTest, DoesNotMoveAFilterIfThatChangesTheResult) {
  for (const auto& plan :
       {Shards().Head(5).Filter(col("id") > lit(1)),
        Shards().Repartition(3).Filter(col("id") > lit(1)),
        Shards().GroupBy({"id"}, {{"sum", "value", "id2"}}).Filter(col("id") > lit(1)),
        Shards().Cache().Filter(col("id") > lit(1))}) {
    ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(plan.plan()));
    EXPECT_EQ(optimized->kind(), NodeKind::kFilter);
    EXPECT_FALSE(ScanOf(optimized).filter.has_value());
  }
}

TEST_F(OptimizerTest, PushesAFilterIntoEveryBranchOfAUnion) {
  auto plan = Shards().Union(Shards()).Filter(col("id") > lit(1));
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(plan.plan()));
  ASSERT_EQ(optimized->kind(), NodeKind::kUnion);
  for (const auto& branch : optimized->inputs) {
    EXPECT_TRUE(ScanOf(branch).filter.has_value());
  }
}

TEST_F(OptimizerTest, LimitsWhatEachPartitionReads) {
  ASSERT_OK_AND_ASSIGN(
      auto optimized,
      Optimize(Shards().Select(std::vector<std::string>{"id"}).Head(7).plan()));
  EXPECT_EQ(ScanOf(optimized).limit, 7);
  ASSERT_OK_AND_ASSIGN(optimized,
                       Optimize(Shards().Filter(col("id") > lit(1)).Head(7).plan()));
  EXPECT_FALSE(ScanOf(optimized).limit.has_value());
}

TEST_F(OptimizerTest, FusesFiltersAndSelections) {
  auto plan = Shards()
                  .Filter(col("id") > lit(1))
                  .Filter(col("id") < lit(9))
                  .WithColumn("a", col("id") + lit(1))
                  .Select(std::vector<std::string>{"a"});
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(plan.plan()));
  EXPECT_EQ(
      Kinds(optimized),
      (std::vector<NodeKind>{NodeKind::kProject, NodeKind::kFilter, NodeKind::kScan}));
}

TEST_F(OptimizerTest, DoesNotComputeAnExpressionTwiceToFuse) {
  auto plan = Shards()
                  .WithColumn("a", col("id") * col("id"))
                  .Select({{"b", col("a") + lit(1)}, {"c", col("a") + lit(2)}});
  ASSERT_OK_AND_ASSIGN(auto optimized, Optimize(plan.plan()));
  EXPECT_EQ(
      Kinds(optimized),
      (std::vector<NodeKind>{NodeKind::kProject, NodeKind::kProject, NodeKind::kScan}));
}

TEST_F(OptimizerTest, ReportsErrorsBeforeAnythingRuns) {
  EXPECT_FAILS(KeyError, "'nope'",
               Optimize(Shards().Filter(col("nope") > lit(1)).plan()));
}

TEST_F(OptimizerTest, AFilterThatCanFailSeesOnlyTheRowsItWasGiven) {
  auto schema = arrow::schema(
      {arrow::field("s", arrow::large_utf8()), arrow::field("t", arrow::large_utf8())});
  auto batch = testing::Batch(
      schema, R"([{"s": "1", "t": "n"}, {"s": "x", "t": "s"}, {"s": "3", "t": "n"}])");
  ASSERT_OK_AND_ASSIGN(auto shards, XShards::FromBatches(context_, {batch}));
  auto numbers = shards.Filter(col("t") == lit("n"));
  ASSERT_OK_AND_ASSIGN(int64_t direct,
                       numbers.Filter(col("s").Cast(arrow::int64()) > lit(1)).Count());
  EXPECT_EQ(direct, 1);
  ASSERT_OK_AND_ASSIGN(int64_t computed,
                       numbers.WithColumn("i", col("s").Cast(arrow::int64()))
                           .Filter(col("i") > lit(1))
                           .Count());
  EXPECT_EQ(computed, 1);
}

TEST_F(OptimizerTest, AColumnThatWasNotSelectedCannotBeUsedLater) {
  auto mapped =
      testing::NumberedShards(context_, 1, 5).TransformShard([](const ShardView& shard) {
        return shard;
      });
  EXPECT_FAILS(KeyError, "'value'",
               mapped.Select({"id"}).Filter(col("value") > lit(1.0)).ToTable());
  EXPECT_FAILS(KeyError, "'value'", mapped.Select({"id"}).Select({"value"}).ToTable());
}

TEST_F(OptimizerTest, EachRuleKeepsTheRows) {
  auto shards = testing::NumberedShards(context_, 3, 40);
  auto plan = shards.WithColumn("twice", col("value") * lit(2.0))
                  .PartitionBy({"key"}, 4)
                  .Filter(col("twice") > lit(50.0))
                  .Sort({{"id", true}})
                  .Select(std::vector<std::string>{"id", "twice"});
  ASSERT_OK_AND_ASSIGN(auto expected, plan.ToTable());
  ASSERT_GT(expected->num_rows(), 0);
  for (const auto& rule : OptimizerRules()) {
    ASSERT_OK_AND_ASSIGN(auto rewritten, rule.apply(plan.plan()));
    ASSERT_OK_AND_ASSIGN(auto actual, XShards(context_, rewritten).ToTable());
    EXPECT_TRUE(actual->Equals(*expected)) << rule.name;
  }
}

}  // namespace
}  // namespace xshards
