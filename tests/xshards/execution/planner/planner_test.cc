// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/planner.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/execution/stages/explain.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NumberedShards;
using testing::TestContext;

class PlannerTest : public ::testing::Test {
 protected:
  arrow::Result<StageGraph> Stages(const XShards& shards) const {
    ARROW_ASSIGN_OR_RAISE(auto optimized, Optimize(context_->WithResults(shards.plan())));
    return PlanStages(optimized, {.cores = context_->cores(),
                                  .memory_bytes = context_->memory_bytes(),
                                  .pool = context_->memory_pool()});
  }
  static std::vector<std::string> Labels(const StageGraph& graph) {
    std::vector<std::string> labels;
    for (const auto& stage : graph.stages) labels.push_back(stage.label);
    return labels;
  }
  std::vector<std::string> LabelsThatRan() const {
    std::vector<std::string> labels;
    for (const auto& stage : context_->last_profile().stages) {
      labels.push_back(stage.label);
    }
    return labels;
  }

  std::shared_ptr<Context> context_ = TestContext();
  XShards shards_ = NumberedShards(context_, 4, 50);
  JoinNode on_key_{.left_keys = {"id"}, .right_keys = {"id"}};
};

TEST_F(PlannerTest, PlansTheStagesThatRun) {
  auto outer = on_key_;
  outer.type = JoinType::kOuter;
  const auto shuffled = shards_.PartitionBy({"key"}, 3);
  const std::vector<std::pair<std::string, XShards>> plans = {
      {"filter", shards_.Filter(col("id") > lit(3))},
      {"hash exchange", shuffled},
      {"hash exchange, filter", shuffled.Filter(col("id") > lit(3))},
      {"elided exchange", shuffled.PartitionBy({"key"}, 3).Select({"id"})},
      {"range exchange", shards_.PartitionByRange({"value"}, 3)},
      {"balanced exchange", shards_.Filter(col("id") > lit(3)).Repartition(3)},
      {"groups", shards_.GroupBy({"key"}, {{"sum", "value", "sum"}})},
      {"one group", shards_.GroupBy({}, {{"sum", "value", "sum"}})},
      {"groups in place", shuffled.GroupBy({"key"}, {{"sum", "value", "sum"}})},
      {"distinct", shards_.Select({"key"}).Distinct()},
      {"sort", shards_.Sort({{"id", false}})},
      {"sort of what is in order", shards_.Sort({{"id"}})},
      {"sort after filter", shards_.Filter(col("id") > lit(3)).Sort({{"value"}})},
      {"top", shards_.Sort({{"value"}}).Head(3)},
      {"limit", shards_.Filter(col("id") >= lit(0)).Head(100)},
      {"broadcast join", shards_.Join(shards_.Select({"id"}), on_key_)},
      {"outer join", shards_.Join(shards_.Select({"id"}), outer)},
      {"join of what is partitioned",
       shards_.PartitionBy({"id"}, 4).Join(shards_.PartitionBy({"id"}, 4), outer)},
      {"sample", shards_.Sample({.count = 7, .seed = 1})},
      {"weighted sample", shards_.Sample({.count = 7, .weights = "id", .seed = 1})},
      {"union, groups", shards_.Union(shards_).GroupBy({"key"}, {{"max", "id", "max"}})},
      {"cache, groups", shards_.Filter(col("id") > lit(3))
                            .Cache()
                            .GroupBy({"key"}, {{"max", "id", "max"}})},
      {"function", shards_.TransformShard([](const ShardView& shard) { return shard; })
                       .Filter(col("id") > lit(3))},
  };
  for (const auto& [name, plan] : plans) {
    ASSERT_OK_AND_ASSIGN(const auto graph, Stages(plan));
    ASSERT_OK(plan.Collect().status());
    EXPECT_EQ(Labels(graph), LabelsThatRan()) << name << "\n" << FormatStages(graph);
  }
}

TEST_F(PlannerTest, GivesEachFragmentOneSplit) {
  ScanNode scan{.format = "csv", .schema = arrow::schema({})};
  for (int i = 0; i < 100; ++i) scan.splits.push_back({.path = std::to_string(i)});
  ASSERT_OK_AND_ASSIGN(const auto graph, Stages({context_, MakeNode(scan)}));
  ASSERT_EQ(graph.stages.size(), 1);
  ASSERT_EQ(graph.stages[0].trees.size(), 100);
  for (const auto& tree : graph.stages[0].trees) {
    EXPECT_EQ(tree->as<ScanNode>().splits.capacity(), 1);
  }
}

TEST_F(PlannerTest, StagesNameTheStagesTheyRead) {
  ASSERT_OK_AND_ASSIGN(const auto graph,
                       Stages(shards_.Filter(col("id") > lit(3)).Repartition(3)));
  ASSERT_EQ(graph.stages.size(), 2);
  EXPECT_THAT(graph.stages[0].inputs, ElementsAre());
  EXPECT_THAT(graph.stages[1].inputs, ElementsAre(StageEdge{.stage = 1}));
  EXPECT_EQ(graph.stages[1].label, "Read stage 1 → partition into 3");
}

TEST_F(PlannerTest, NamesTheDecisionsThatOutputMakes) {
  const auto filtered = shards_.Filter(col("id") > lit(3));
  ASSERT_OK_AND_ASSIGN(const auto graph, Stages(filtered.Sort({{"value"}})));
  ASSERT_EQ(graph.stages.size(), 3);
  EXPECT_EQ(graph.stages[0].decides, Decision::kWhetherRowsAreSorted);
  ASSERT_EQ(graph.stages[1].algorithms.size(), 1);
  EXPECT_EQ(graph.stages[1].algorithms[0].algorithm, Algorithm::kRangeSort);
  EXPECT_EQ(graph.stages[2].decides, Decision::kNothing);
  EXPECT_THAT(graph.stages[2].inputs,
              ElementsAre(StageEdge{.stage = 2, .exchange = ExchangeMode::kRange}));
}

TEST_F(PlannerTest, EdgesSayHowRowsMove) {
  // Each fragment of the join reads one partition of the left and the whole right.
  const auto few = shards_.Filter(col("id") < lit(5)).Repartition(2);
  auto join = on_key_;
  join.type = JoinType::kLeft;
  ASSERT_OK_AND_ASSIGN(const auto graph,
                       Stages(shards_.PartitionBy({"id"}, 3).Join(few, join)));
  ASSERT_EQ(graph.stages.size(), 4) << FormatStages(graph);
  EXPECT_THAT(graph.stages[2].inputs, ElementsAre(StageEdge{.stage = 2}));
  EXPECT_THAT(graph.stages[3].inputs,
              ElementsAre(StageEdge{.stage = 1, .exchange = ExchangeMode::kHash},
                          StageEdge{.stage = 3,
                                    .exchange = ExchangeMode::kRoundRobin,
                                    .broadcast = true}));
}

// Plans whose data decide: before they run, other stages are expected than those that
// run, and the stage that decides says so.
TEST_F(PlannerTest, MarksTheStageWhoseOutputChangesThePlan) {
  const auto same = [](const ShardView& shard) { return shard; };
  struct Case {
    std::string name;
    XShards plan;
    Decision decision;
  };
  const std::vector<Case> cases = {
      {"a limit within a partition", shards_.Filter(col("id") >= lit(0)).Head(60),
       Decision::kWhetherRowsSuffice},
      {"a sort of sorted rows that do not exist yet",
       shards_.Filter(col("id") >= lit(0)).Sort({{"id"}}),
       Decision::kWhetherRowsAreSorted},
      {"distinct rows, all of which are kept",
       shards_.Filter(col("id") >= lit(0)).DropDuplicates({"id"}).ValueOrDie(),
       Decision::kWhetherMostRowsAreKept},
      {"a join of results of functions",
       shards_.TransformShard(same).Join(shards_.TransformShard(same), on_key_),
       Decision::kColumnsOfFunction},
  };
  for (const auto& [name, plan, decision] : cases) {
    ASSERT_OK_AND_ASSIGN(const auto graph, Stages(plan));
    std::vector<Decision> decisions;
    for (const auto& stage : graph.stages) decisions.push_back(stage.decides);
    EXPECT_THAT(decisions, Contains(decision)) << name << "\n" << FormatStages(graph);
    EXPECT_THAT(FormatStages(graph),
                HasSubstr(std::string("its output decides ") + ToString(decision)));
    ASSERT_OK(plan.Collect().status());
    EXPECT_NE(Labels(graph), LabelsThatRan()) << name << "\n" << FormatStages(graph);
  }
}

TEST_F(PlannerTest, ReplansByKnownSizes) {
  // Before it runs, the filtered side is estimated to be as large as its input.
  const auto context = TestContext({.cores = 2, .memory_bytes = 16 << 20});
  const auto large = NumberedShards(context, 4, 50000);
  const auto few = large.Filter(col("id") < lit(5));
  auto join = on_key_;
  join.type = JoinType::kLeft;
  ASSERT_OK(large.Join(few.Repartition(2), join).Collect().status());
  const auto profile = context->last_profile();
  ASSERT_FALSE(profile.stages.empty());
  EXPECT_THAT(profile.stages.back().notes,
              ElementsAre(HasSubstr("broadcast hash join: the right")));
}

TEST_F(PlannerTest, GroupsRowsOfNoColumns) {
  const auto none = shards_.Select(std::vector<std::string>{});
  ASSERT_OK_AND_ASSIGN(const auto rows, none.Distinct().Count());
  EXPECT_LE(rows, 1);
}

TEST_F(PlannerTest, ExplainDoesNotWaitWhileACacheIsFilled) {
  const auto cached = std::make_shared<std::optional<XShards>>();
  *cached = shards_
                .TransformShard([cached](const ShardView& shard) {
                  EXPECT_TRUE((*cached)->Filter(col("id") > lit(3)).Explain().ok());
                  return shard;
                })
                .Cache();
  ASSERT_OK((*cached)->Count().status());
  cached->reset();  // it refers to itself
}

TEST_F(PlannerTest, ExplainFillsNoCache) {
  const auto cached = shards_.Cache();
  ASSERT_OK(cached.Filter(col("id") > lit(3)).Explain().status());
  EXPECT_FALSE(cached.is_cached());
}

}  // namespace
}  // namespace xshards
