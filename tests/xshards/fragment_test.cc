// SPDX-License-Identifier: Apache-2.0
#include "xshards/fragment.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TestContext;

XSHARDS_FUNCTION(first_three,
                 [](const ShardView& shard) { return shard.batch()->Slice(0, 3); });

Plan Data(int64_t rows, int64_t first_id = 0) {
  return MakeNode(
      LiteralNode{.schema = Numbered(0)->schema(),
                  .partitions = {Partition(
                      {BlockStore::FromBatches({Numbered(rows, 7, first_id)})}, 0)}});
}

class FragmentTest : public ::testing::Test {
 protected:
  arrow::Result<FragmentResult> Run(const Fragment& fragment) {
    return RunFragment(fragment, *operators_, context_->storage(),
                       arrow::StopToken::Unstoppable());
  }

  std::shared_ptr<Context> context_ = TestContext();
  std::shared_ptr<const OperatorTable> operators_ = DefaultOperators();
};

arrow::RecordBatchVector Rows(const FragmentResult& result) {
  arrow::RecordBatchVector batches;
  for (size_t i = 0; i < result.store->num_blocks(); ++i) {
    batches.push_back(result.store->ReadBlock(i).ValueOrDie());
  }
  return batches;
}

/// Every node that can be in a fragment, over in-memory data.
std::vector<Plan> Trees() {
  std::vector<Plan> trees = {
      Data(10),
      MakeNode(ProjectNode{.names = {"x"}, .expressions = {col("id") * lit(2)}},
               {Data(10)}),
      MakeNode(FilterNode{col("key") == lit("κ1")}, {Data(100)}),
      MakeNode(MapNativeNode{.name = "first_three"}, {Data(10)}),
      MakeNode(AggregateNode{.keys = {"key"}, .aggregates = {{"sum", "value", "s"}}},
               {Data(100)}),
      MakeNode(JoinNode{.left_keys = {"id"}, .right_keys = {"id"}},
               {Data(10), Data(10, 5)}),
      MakeNode(SortNode{.keys = {{"value", false}}}, {Data(50)}),
      MakeNode(LimitNode{4}, {Data(10)}),
      MakeNode(
          ZipNode{},
          {MakeNode(ProjectNode{.names = {"a"}, .expressions = {col("id")}}, {Data(5)}),
           MakeNode(ProjectNode{.names = {"b"}, .expressions = {col("key")}},
                    {Data(5)})}),
  };
  return trees;
}

TEST_F(FragmentTest, ADecodedFragmentGivesTheSameRowsForEveryNode) {
  for (const auto& tree : Trees()) {
    Fragment fragment{.index = 2, .root = tree, .sink = {.storage = Storage::kShared}};
    ASSERT_OK_AND_ASSIGN(auto here, Run(fragment));
    ASSERT_OK_AND_ASSIGN(auto encoded, EncodeFragment(fragment, context_->storage()));
    ASSERT_OK_AND_ASSIGN(auto decoded, DecodeFragment(encoded.bytes, encoded.segments,
                                                      context_->storage()));
    EXPECT_EQ(decoded.index, 2);
    ASSERT_OK_AND_ASSIGN(auto there, Run(decoded));
    auto expected = Rows(here);
    auto actual = Rows(there);
    ASSERT_EQ(actual.size(), expected.size()) << Describe(*tree);
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_TRUE(actual[i]->Equals(*expected[i])) << Describe(*tree);
    }
  }
}

TEST_F(FragmentTest, AResultTravelsBackWithItsMetrics) {
  Fragment fragment{.root = Data(10), .sink = {.storage = Storage::kShared}};
  ASSERT_OK_AND_ASSIGN(auto result, Run(fragment));
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeResult(result));
  ASSERT_OK_AND_ASSIGN(
      auto again, DecodeResult(encoded.bytes, encoded.segments, context_->storage()));
  EXPECT_EQ(again.metrics.rows_out, 10);
  EXPECT_EQ(again.metrics.bytes_out, result.metrics.bytes_out);
  EXPECT_TRUE(Rows(again)[0]->Equals(*Numbered(10)));
}

TEST_F(FragmentTest, AResultOnTheHeapDoesNotTravel) {
  ASSERT_OK_AND_ASSIGN(auto result, Run({.root = Data(10)}));
  EXPECT_FAILS(Invalid, "must be in shared storage", EncodeResult(result));
}

TEST_F(FragmentTest, StopsWhenAsked) {
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_FAILS(
      Cancelled, "",
      RunFragment({.root = Data(10)}, *operators_, context_->storage(), source.token()));
  std::atomic<bool> abandoned{true};
  EXPECT_FAILS(Cancelled, "Another partition failed",
               RunFragment({.root = Data(10)}, *operators_, context_->storage(),
                           arrow::StopToken::Unstoppable(), &abandoned));
}

TEST_F(FragmentTest, KnowsWhatPinsItAndWhatNeedsPython) {
  EXPECT_TRUE(CanTravel(*MakeNode(MapNativeNode{.name = "f"}, {Data(1)})));
  EXPECT_FALSE(
      CanTravel(*MakeNode(LimitNode{1}, {MakeNode(MapNativeNode{}, {Data(1)})})));
  EXPECT_FALSE(NeedsPython(*Data(1)));
  EXPECT_TRUE(
      NeedsPython(*MakeNode(LimitNode{1}, {MakeNode(MapPythonNode{}, {Data(1)})})));
}

}  // namespace
}  // namespace xshards
