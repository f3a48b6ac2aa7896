// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/stage_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/execution/stages/explain.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using ::testing::HasSubstr;
using testing::NumberedShards;
using testing::TestContext;

class StageGraphTest : public ::testing::Test {
 protected:
  StageGraph Graph(const XShards& shards) {
    const auto optimized = Optimize(shards.plan()).ValueOrDie();
    return PlanStages(optimized, {.cores = 2,
                                  .memory_bytes = context_->memory_bytes(),
                                  .pool = context_->memory_pool()})
        .ValueOrDie();
  }

  std::shared_ptr<Context> context_ = TestContext();
  XShards shards_ = NumberedShards(context_, 3, 10);
};

TEST_F(StageGraphTest, RoundTripsThroughBytes) {
  const auto graph = Graph(shards_.Filter(col("id") > lit(3))
                               .Repartition(2)
                               .GroupBy({"key"}, {{"sum", "value", "sum"}}));
  ASSERT_OK_AND_ASSIGN(const auto encoded, EncodeStageGraph(graph, context_->storage()));
  ASSERT_OK_AND_ASSIGN(
      const auto decoded,
      DecodeStageGraph(encoded.bytes, encoded.segments, context_->storage()));
  ASSERT_EQ(decoded.stages.size(), graph.stages.size());
  EXPECT_EQ(FormatStages(decoded), FormatStages(graph));
  for (size_t i = 0; i < graph.stages.size(); ++i) {
    ASSERT_EQ(decoded.stages[i].trees.size(), graph.stages[i].trees.size());
    EXPECT_EQ(decoded.stages[i].number, graph.stages[i].number);
    EXPECT_EQ(decoded.stages[i].inputs, graph.stages[i].inputs);
    EXPECT_EQ(decoded.stages[i].algorithms, graph.stages[i].algorithms);
    EXPECT_EQ(decoded.stages[i].decides, graph.stages[i].decides);
    EXPECT_EQ(decoded.stages[i].place, graph.stages[i].place);
    EXPECT_EQ(decoded.stages[i].label, graph.stages[i].label);
    EXPECT_EQ(decoded.stages[i].num_fragments, graph.stages[i].num_fragments);
    EXPECT_EQ(decoded.stages[i].sink.mode, graph.stages[i].sink.mode);
    EXPECT_EQ(FormatPlan(*decoded.stages[i].trees[0]),
              FormatPlan(*graph.stages[i].trees[0]));
  }
}

TEST_F(StageGraphTest, RejectsUnknownAlgorithmsAndDecisions) {
  const auto decoded_after = [&](auto change) {
    auto graph = Graph(shards_.PartitionBy({"key"}, 2));
    change(graph.stages[0]);
    const auto encoded = EncodeStageGraph(graph, context_->storage()).ValueOrDie();
    return DecodeStageGraph(encoded.bytes, encoded.segments, context_->storage());
  };
  ASSERT_OK(decoded_after([](Stage&) {}).status());
  EXPECT_FAILS(Invalid, "unknown algorithm: 21", decoded_after([](Stage& stage) {
                 stage.algorithms[0].algorithm = static_cast<Algorithm>(kNumAlgorithms);
               }));
  EXPECT_FAILS(Invalid, "unknown decision: 12", decoded_after([](Stage& stage) {
                 stage.decides = static_cast<Decision>(kNumDecisions);
               }));
}

TEST_F(StageGraphTest, RejectsForeignAndTruncatedBytes) {
  ASSERT_OK_AND_ASSIGN(
      const auto encoded,
      EncodeStageGraph(Graph(shards_.PartitionBy({"key"}, 2)), context_->storage()));
  EXPECT_FAILS(Invalid, "not a stage graph of this version",
               DecodeStageGraph(arrow::Buffer::FromString(std::string(16, 'x')), {},
                                context_->storage()));
  for (int64_t size = 0; size < encoded.bytes->size(); ++size) {
    EXPECT_FALSE(DecodeStageGraph(arrow::SliceBuffer(encoded.bytes, 0, size),
                                  encoded.segments, context_->storage())
                     .ok());
  }
}

TEST_F(StageGraphTest, ShowsTheProfileOfStages) {
  ASSERT_OK_AND_ASSIGN(const auto text,
                       shards_.GroupBy({"key"}, {{"max", "id", "max"}}).ExplainAnalyze());
  EXPECT_THAT(text, HasSubstr("stage 1: Read partitions"));
  EXPECT_THAT(text, HasSubstr("stage 2: Read stage 1"));
  // Six keys and the missing one.
  EXPECT_THAT(text, HasSubstr("      7 rows, "));
}

}  // namespace
}  // namespace xshards
