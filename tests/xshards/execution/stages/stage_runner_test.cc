// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/stages/stage_runner.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::NumberedShards;
using testing::TestContext;

class StageRunnerTest : public ::testing::Test {
 protected:
  StageRunnerTest() {
    threads_ = MakeThreadRunner(2, DefaultOperators());
    environment_ = {.cores = 2,
                    .storage = context_->storage(),
                    .threads = threads_.get(),
                    .progress = &progress_};
  }
  Planner MakePlanner(StageRunner& runner) {
    return Planner({.cores = 2,
                    .memory_bytes = context_->memory_bytes(),
                    .pool = context_->memory_pool()},
                   runner);
  }

  std::shared_ptr<Context> context_ = TestContext();
  std::shared_ptr<Runner> threads_;
  Progress progress_;
  ExecutionEnvironment environment_;
  XShards shards_ = NumberedShards(context_, 3, 10);
};

TEST_F(StageRunnerTest, RunsOnlyTheRequestedStages) {
  StageRunner runner(environment_, arrow::StopToken::Unstoppable());
  auto planner = MakePlanner(runner);
  const auto plan = shards_.Filter(col("id") > lit(3)).PartitionBy({"key"}, 2).plan();
  ASSERT_OK_AND_ASSIGN(auto trees, planner.Lower(plan, Storage::kHeap));
  EXPECT_EQ(planner.graph().stages.size(), 1);
  EXPECT_EQ(runner.profile().stages.size(), 0);
  ASSERT_OK_AND_ASSIGN(trees, planner.Observe(trees, Decision::kNothing));
  EXPECT_EQ(runner.profile().stages.size(), 1);
  int64_t rows = 0;
  for (const auto& tree : trees) rows += tree->as<StageInputNode>().num_rows;
  EXPECT_EQ(rows, 26);
}

TEST_F(StageRunnerTest, DropsOutputThatNoTreeReads) {
  StageRunner runner(environment_, arrow::StopToken::Unstoppable());
  auto planner = MakePlanner(runner);
  const auto plan = shards_.PartitionBy({"key"}, 2).plan();
  ASSERT_OK_AND_ASSIGN(auto trees, planner.Lower(plan, Storage::kHeap));
  ASSERT_OK_AND_ASSIGN(auto output, runner.Await(planner.graph(), 1));
  const std::weak_ptr<const StageOutput> first = output;
  output.reset();
  EXPECT_FALSE(first.expired());
  // The next stage is the last that reads it.
  ASSERT_OK_AND_ASSIGN(trees, planner.Publish(Wrap(LimitNode{3}, trees), Storage::kHeap));
  ASSERT_OK(runner.Await(planner.graph(), 2).status());
  EXPECT_TRUE(first.expired());
}

TEST_F(StageRunnerTest, FailsForAStageWhoseOutputIsGone) {
  StageRunner runner(environment_, arrow::StopToken::Unstoppable());
  auto planner = MakePlanner(runner);
  ASSERT_OK_AND_ASSIGN(
      auto trees, planner.Lower(shards_.PartitionBy({"key"}, 2).plan(), Storage::kHeap));
  ASSERT_OK(runner.Await(planner.graph(), 1).status());
  ASSERT_OK(runner.Await(planner.graph(), 1).status());
  ASSERT_OK_AND_ASSIGN(trees, planner.Publish(Wrap(LimitNode{3}, trees), Storage::kHeap));
  ASSERT_OK(runner.Await(planner.graph(), 2).status());
  EXPECT_FAILS(Invalid, "stage 1", runner.Await(planner.graph(), 1));
}

TEST_F(StageRunnerTest, FailsForAStageThatIsNotThere) {
  StageRunner runner(environment_, arrow::StopToken::Unstoppable());
  auto planner = MakePlanner(runner);
  ASSERT_OK(
      planner.Lower(shards_.PartitionBy({"key"}, 2).plan(), Storage::kHeap).status());
  EXPECT_FAILS(Invalid, "stage 0", runner.Await(planner.graph(), 0));
}

/// Gives what its function gives, as a damaged worker may.
class ScriptedRunner final : public Runner {
 public:
  explicit ScriptedRunner(int32_t destination) : destination_(destination) {}
  std::string name() const override { return "scripted"; }
  arrow::Result<std::vector<FragmentResult>> Run(
      const std::vector<Fragment>& fragments, StorageEnvironment environment,
      const arrow::StopToken& /*stop*/,
      const std::function<void()>& /*on_done*/) override {
    std::vector<FragmentResult> results(fragments.size());
    for (auto& result : results) {
      BlockWriter writer(environment, Storage::kHeap);
      ARROW_RETURN_NOT_OK(writer.Append(destination_, testing::Numbered(2)));
      ARROW_ASSIGN_OR_RAISE(result.store, writer.Finish());
    }
    return results;
  }

 private:
  const int32_t destination_;
};

TEST_F(StageRunnerTest, FailsForRowsOfPartitionsThatAreNotThere) {
  for (const int32_t destination : {2, -1, 1 << 30}) {
    ScriptedRunner scripted(destination);
    environment_.threads = &scripted;
    StageRunner runner(environment_, arrow::StopToken::Unstoppable());
    auto planner = MakePlanner(runner);
    ASSERT_OK(
        planner.Lower(shards_.PartitionBy({"key"}, 2).plan(), Storage::kHeap).status());
    EXPECT_FAILS(Invalid, "partitions 0 to 1", runner.Await(planner.graph(), 1));
  }
}

TEST_F(StageRunnerTest, FailsForATreeThatReadsAPartitionThatIsNotThere) {
  for (const int32_t number : {2, -1}) {
    StageRunner runner(environment_, arrow::StopToken::Unstoppable());
    auto planner = MakePlanner(runner);
    ASSERT_OK_AND_ASSIGN(auto trees, planner.Lower(shards_.PartitionBy({"key"}, 2).plan(),
                                                   Storage::kHeap));
    auto leaf = trees[0]->as<StageInputNode>();
    leaf.partitions = {number};
    trees = {MakeNode(leaf)};
    ASSERT_OK_AND_ASSIGN(trees,
                         planner.Publish(Wrap(LimitNode{3}, trees), Storage::kHeap));
    EXPECT_FAILS(Invalid, "Stage 1 has 2 partitions", runner.Await(planner.graph(), 2));
  }
}

TEST_F(StageRunnerTest, FailsWithoutAPythonRunner) {
  StageRunner runner(environment_, arrow::StopToken::Unstoppable());
  auto planner = MakePlanner(runner);
  ASSERT_OK_AND_ASSIGN(auto trees, planner.Lower(shards_.plan(), Storage::kHeap));
  trees = Wrap(MapPythonNode{.function_hash = "x", .label = "f"}, trees);
  ASSERT_OK_AND_ASSIGN(trees, planner.Publish(std::move(trees), Storage::kHeap));
  EXPECT_FAILS(NotImplemented, "no runner for Python functions",
               runner.Await(planner.graph(), 1));
}

}  // namespace
}  // namespace xshards
