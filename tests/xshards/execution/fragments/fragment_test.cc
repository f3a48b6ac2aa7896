// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/fragment.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "tests/xshards/execution/fragments/fragment_trees.h"
#include "xshards/context.h"

namespace xshards {
namespace {

using testing::FragmentTrees;
using testing::Numbered;
using testing::NumberedLeaf;
using testing::TestContext;

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

TEST_F(FragmentTest, ADecodedFragmentGivesTheSameRowsForEveryNode) {
  for (const auto& tree : FragmentTrees()) {
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

TEST_F(FragmentTest, ResultRoundTripsWithItsMetrics) {
  Fragment fragment{.root = NumberedLeaf(10), .sink = {.storage = Storage::kShared}};
  ASSERT_OK_AND_ASSIGN(auto result, Run(fragment));
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeResult(result));
  ASSERT_OK_AND_ASSIGN(
      auto again, DecodeResult(encoded.bytes, encoded.segments, context_->storage()));
  EXPECT_EQ(again.metrics.rows_out, 10);
  EXPECT_EQ(again.metrics.bytes_out, result.metrics.bytes_out);
  EXPECT_GT(result.span.begin_ns, 0);
  EXPECT_GE(result.span.end_ns, result.span.begin_ns);
  EXPECT_EQ(again.span.begin_ns, result.span.begin_ns);
  EXPECT_EQ(again.span.end_ns, result.span.end_ns);
  EXPECT_EQ(again.span.process, result.span.process);
  EXPECT_EQ(again.span.thread, result.span.thread);
  EXPECT_TRUE(Rows(again)[0]->Equals(*Numbered(10)));
}

TEST_F(FragmentTest, SegmentsSentWithAFragmentReturnByNumber) {
  auto& pool = *context_->storage().segments;
  ASSERT_OK_AND_ASSIGN(auto input, pool.Create(SegmentKind::kMemory));
  ASSERT_OK(input->Append(*Numbered(10000)));
  ASSERT_OK_AND_ASSIGN(auto blank, pool.Create(SegmentKind::kMemory));
  for (const auto& segment : {input, blank}) segment->Lend();

  // The other process writes its output to the blank one, and still has the input.
  ASSERT_OK_AND_ASSIGN(auto theirs,
                       Segment::Adopt(SegmentKind::kMemory, dup(blank->fd()), 0));
  pool.Offer(theirs);
  Fragment fragment{.root = NumberedLeaf(10000), .sink = {.storage = Storage::kShared}};
  ASSERT_OK_AND_ASSIGN(auto result, Run(fragment));
  pool.WithdrawOffers();
  ASSERT_OK_AND_ASSIGN(
      auto encoded,
      EncodeResult(result, {{.segment = input, .still_mapped = true}, {theirs, false}}));
  EXPECT_EQ(encoded.num_known, 2);
  EXPECT_EQ(encoded.segments.size(), 2);

  ASSERT_OK_AND_ASSIGN(auto again, DecodeResult(encoded.bytes, std::vector{input, blank},
                                                context_->storage()));
  EXPECT_EQ(blank->size(), theirs->size());
  EXPECT_EQ(again.store->blocks()[0].segment, blank);
  EXPECT_TRUE(Rows(again)[0]->Equals(*Numbered(10000)));
  // The input is never reused; the output segment is, once it is no longer read.
  result = {};
  theirs.reset();
  encoded = {};
  pool.ReleaseIdle();
  const int64_t used = context_->budget().used();
  input.reset();
  again = {};
  blank.reset();
  EXPECT_LT(context_->budget().used(), used);
  EXPECT_GT(context_->budget().used(), 0);
}

TEST_F(FragmentTest, ExchangeCanKeepItsInput) {
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = Storage::kShared};
  sink.keys = {"key"};
  sink.num_partitions = 3;
  sink.keep_whole = true;
  const Fragment fragment{.root = NumberedLeaf(100), .sink = sink};
  ASSERT_OK_AND_ASSIGN(auto result,
                       RunFragment(fragment, *DefaultOperators(), context_->storage(),
                                   arrow::StopToken::Unstoppable()));
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeResult(result));
  ASSERT_OK_AND_ASSIGN(
      auto again, DecodeResult(encoded.bytes, encoded.segments, context_->storage()));
  ASSERT_NE(again.whole, nullptr);
  ASSERT_OK_AND_ASSIGN(auto whole, again.whole->ReadBlock(0));
  EXPECT_TRUE(whole->Equals(*Numbered(100)));
  int64_t rows = 0;
  for (int32_t i = 0; i < 3; ++i) rows += Partition({again.store}, i).num_rows();
  EXPECT_EQ(rows, 100);
  EXPECT_EQ(again.metrics.bytes_written, result.metrics.bytes_written);
}

TEST_F(FragmentTest, OutputThatCannotBePartitionedIsOnlyKept) {
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = Storage::kShared};
  sink.keys = {"no such column"};
  sink.num_partitions = 3;
  sink.keep_whole = true;
  const Fragment fragment{.root = NumberedLeaf(100), .sink = sink};
  ASSERT_OK_AND_ASSIGN(auto result,
                       RunFragment(fragment, *DefaultOperators(), context_->storage(),
                                   arrow::StopToken::Unstoppable()));
  EXPECT_EQ(result.store->num_blocks(), 0);
  EXPECT_EQ(Partition({result.whole}, 0).num_rows(), 100);
}

TEST_F(FragmentTest, ResultOnTheHeapCannotBeEncoded) {
  ASSERT_OK_AND_ASSIGN(auto result, Run({.root = NumberedLeaf(10)}));
  EXPECT_FAILS(Invalid, "must be in shared storage", EncodeResult(result));
}

TEST_F(FragmentTest, StopsWhenAsked) {
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_FAILS(Cancelled, "",
               RunFragment({.root = NumberedLeaf(10)}, *operators_, context_->storage(),
                           source.token()));
  std::atomic<bool> abandoned{true};
  EXPECT_FAILS(Cancelled, "Another partition failed",
               RunFragment({.root = NumberedLeaf(10)}, *operators_, context_->storage(),
                           arrow::StopToken::Unstoppable(), &abandoned));
}

TEST_F(FragmentTest, DetectsPythonFunctions) {
  EXPECT_FALSE(NeedsPython(*NumberedLeaf(1)));
  EXPECT_TRUE(NeedsPython(
      *MakeNode(LimitNode{1}, {MakeNode(MapPythonNode{}, {NumberedLeaf(1)})})));
  EXPECT_FALSE(NeedsPythonThreads(*MakeNode(MapPythonNode{}, {NumberedLeaf(1)})));
  EXPECT_TRUE(NeedsPythonThreads(
      *MakeNode(MapPythonNode{.on_threads = true}, {NumberedLeaf(1)})));
}

TEST_F(FragmentTest, EstimatesTheBytesItReads) {
  const int64_t leaf = NumberedLeaf(10)->as<LiteralNode>().partitions[0].num_bytes();
  EXPECT_GT(leaf, 0);
  EXPECT_EQ(InputBytes(*MakeNode(ZipNode{}, {NumberedLeaf(10), NumberedLeaf(10)})),
            2 * leaf);
  const Split split{.path = "a.csv", .num_bytes = 123};
  EXPECT_EQ(InputBytes(*MakeNode(LimitNode{1}, {MakeNode(ScanNode{.splits = {split}})})),
            123);
  EXPECT_EQ(InputBytes(*MakeNode(UnionNode{})), 0);
}

}  // namespace
}  // namespace xshards
