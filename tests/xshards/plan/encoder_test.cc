// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"
#include "xshards/plan/codec.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TestContext;

class PlanEncoderTest : public ::testing::Test {
 protected:
  Plan Again(const Plan& plan) {
    PlanEncoder encoder(context_->storage());
    auto status = encoder.Put(*plan);
    EXPECT_TRUE(status.ok()) << status;
    segments_ = encoder.segments();
    PlanDecoder decoder(encoder.bytes().Finish(), segments_, context_->storage());
    auto again = decoder.GetPlan();
    EXPECT_TRUE(again.ok()) << again.status();
    return again.ValueOr(nullptr);
  }
  /// The whole of a node is in its description, or checked beside it.
  void ExpectSame(const Plan& plan) {
    auto again = Again(plan);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(Describe(*again), Describe(*plan));
    EXPECT_EQ(again->inputs.size(), plan->inputs.size());
  }

  std::shared_ptr<Context> context_ = TestContext();
  std::vector<std::shared_ptr<Segment>> segments_;
};

TEST_F(PlanEncoderTest, EveryNodeKindComesBackTheSame) {
  auto leaf = MakeNode(ScanNode{.format = "csv", .schema = Numbered(0)->schema()});
  ExpectSame(MakeNode(ProjectNode{.names = {"a", "b"},
                                  .expressions = {col("x") + lit(1), lit("κ")},
                                  .keep_input = true,
                                  .drop = {"z"}},
                      {leaf}));
  ExpectSame(MakeNode(FilterNode{col("a") > lit(1.5) && !col("b").IsNull()}, {leaf}));
  ExpectSame(MakeNode(
      FilterNode{col("a").IsIn(testing::Array(arrow::int64(), "[1, 2, null]"))}, {leaf}));
  ExpectSame(MakeNode(FilterNode{col("a").Cast(arrow::float32()) > lit(1)}, {leaf}));
  ExpectSame(MakeNode(MapNativeNode{.name = "scale"}, {leaf}));
  ExpectSame(MakeNode(
      MapPythonNode{
          .function_hash = "abc", .label = "f", .format = "pandas", .batch_rows = 7},
      {leaf}));
  ExpectSame(MakeNode(
      ExchangeNode{.mode = ExchangeMode::kHash, .keys = {"a"}, .num_partitions = 3},
      {leaf}));
  ExpectSame(MakeNode(AggregateNode{.keys = {"a"},
                                    .aggregates = {{"sum", "b", "sum(b)"},
                                                   {"count", "*", "count(*)"},
                                                   {"count", kAllRows, "count(1)"}},
                                    .phase = AggregatePhase::kFinal},
                      {leaf}));
  ExpectSame(MakeNode(AggregateNode{.keys = {"a"}, .ordered = true}, {leaf}));
  ExpectSame(MakeNode(DistinctNode{}, {leaf}));
  ExpectSame(MakeNode(DistinctNode{.keys = {"a", "ö"}, .keep = Keep::kNone}, {leaf}));
  ExpectSame(MakeNode(DistinctNode{.keys = {"a"},
                                   .keep = Keep::kLast,
                                   .phase = DistinctPhase::kFinalPositions,
                                   .gives_dropped = true},
                      {leaf}));
  ExpectSame(MakeNode(JoinNode{.type = JoinType::kOuter,
                               .left_keys = {"a"},
                               .right_keys = {"b"},
                               .left_suffix = "_l",
                               .right_suffix = "_r"},
                      {leaf, leaf}));
  ExpectSame(MakeNode(SortNode{.keys = {{"a", false}}, .nulls_first = true}, {leaf}));
  ExpectSame(MakeNode(SortNode{.keys = {{"a", true}}, .limit = 7}, {leaf}));
  ExpectSame(
      MakeNode(JoinNode{.type = JoinType::kCross, .build_left = true}, {leaf, leaf}));
  ExpectSame(MakeNode(LimitNode{42}, {leaf}));
  ExpectSame(MakeNode(SampleNode{.share = 0.25, .complement = true, .seed = 7}, {leaf}));
  ExpectSame(MakeNode(SampleNode{.count = 3, .replace = true, .weights = "id"}, {leaf}));
  ExpectSame(MakeNode(UnionNode{}, {leaf, leaf, leaf}));
  ExpectSame(MakeNode(ZipNode{}, {leaf, leaf}));
}

TEST_F(PlanEncoderTest, ScanKeepsSplitsPushdownsAndOptions) {
  auto again = Again(MakeNode(ScanNode{
      .format = "csv",
      .options =
          std::make_shared<const EncodedOptions>(arrow::Buffer::FromString("sep ;")),
      .schema = Numbered(0)->schema(),
      .splits = {{.path = "a.csv",
                  .begin = 10,
                  .end = 20,
                  .num_bytes = 10,
                  .num_rows = 3,
                  .file_bytes = 30,
                  .file_modified = 1700000000123456789,
                  .file_fingerprint = ~0ULL - 1}},
      .folder_columns = {"year"},
      .columns = std::vector<std::string>{},
      .filter = col("id") > lit(1),
      .limit = 0,
      .inferred = true,
      .found = std::make_shared<const ResultId>(ResultId{.store = 5, .number = 2})}));
  const auto& scan = again->as<ScanNode>();
  ASSERT_OK_AND_ASSIGN(const auto options, scan.options->Encode());
  EXPECT_EQ(options->ToString(), "sep ;");
  EXPECT_EQ(scan.folder_columns, (std::vector<std::string>{"year"}));
  EXPECT_TRUE(scan.schema->Equals(*Numbered(0)->schema()));
  ASSERT_EQ(scan.splits.size(), 1);
  EXPECT_EQ(scan.splits[0].path, "a.csv");
  EXPECT_EQ(scan.splits[0].end, 20);
  EXPECT_EQ(scan.splits[0].num_rows, 3);
  EXPECT_EQ(scan.splits[0].file_bytes, 30);
  EXPECT_EQ(scan.splits[0].file_modified, 1700000000123456789);
  EXPECT_EQ(scan.splits[0].file_fingerprint, ~0ULL - 1);
  ASSERT_TRUE(scan.columns.has_value());
  EXPECT_TRUE(scan.columns->empty());
  EXPECT_TRUE(scan.filter->Equals(col("id") > lit(1)));
  EXPECT_EQ(scan.limit, 0);
  EXPECT_TRUE(scan.inferred);
  EXPECT_EQ(*scan.found, (ResultId{.store = 5, .number = 2}));
}

TEST_F(PlanEncoderTest, DataIsSentBySegmentSlice) {
  BlockWriter writer(context_->storage(), Storage::kHeap);
  ASSERT_OK(writer.Append(0, Numbered(3)));
  ASSERT_OK(writer.Append(1, Numbered(4, 7, 100)));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  auto again = Again(MakeNode(LiteralNode{.schema = Numbered(0)->schema(),
                                          .partitions = {Partition({store}, 1)}}));
  EXPECT_EQ(segments_.size(), 1);
  const auto& partition = again->as<LiteralNode>().partitions[0];
  EXPECT_EQ(partition.num_rows(), 4);
  ASSERT_OK_AND_ASSIGN(auto payloads, partition.Load());
  EXPECT_TRUE(payloads[0].batches()[0]->Equals(*Numbered(4, 7, 100)));
}

TEST_F(PlanEncoderTest, AFilledCacheIsSentAsItsData) {
  CacheNode node{.id = std::make_shared<const ResultId>(ResultId{7, 3})};
  const Plan rows = MakeNode(LiteralNode{});
  EXPECT_EQ(Again(MakeNode(node, {rows}))->as<CacheNode>().partitions, nullptr);
  node.partitions = std::make_shared<const std::vector<Partition>>(
      1, Partition({BlockStore::FromBatches({Numbered(5)})}, 0));
  const auto again = Again(MakeNode(node, {rows}))->as<CacheNode>();
  EXPECT_EQ(*again.id, *node.id);
  ASSERT_NE(again.partitions, nullptr);
  EXPECT_EQ(again.partitions->at(0).num_rows(), 5);
}

TEST_F(PlanEncoderTest, PythonFunctionsAreSentByHash) {
  PlanEncoder encoder(context_->storage());
  auto pickle = arrow::Buffer::FromString("pickle");
  ASSERT_OK(encoder.Put(*MakeNode(MapPythonNode{
      .function_hash = "h1", .label = "f", .format = "pandas", .pickle = pickle})));
  ASSERT_EQ(encoder.functions().size(), 1);
  EXPECT_EQ(encoder.functions().at("h1"), pickle);
}

TEST_F(PlanEncoderTest, RejectsAnUnregisteredFunction) {
  PlanEncoder encoder(context_->storage());
  EXPECT_FAILS(Invalid, "register it with XSHARDS_FUNCTION",
               encoder.Put(*MakeNode(MapNativeNode{})));
}

TEST_F(PlanEncoderTest, RejectsAFunctionOnThreads) {
  PlanEncoder encoder(context_->storage());
  EXPECT_FAILS(Invalid, "The function f runs on threads",
               encoder.Put(*MakeNode(MapPythonNode{.label = "f", .on_threads = true})));
}

TEST_F(PlanEncoderTest, SinksComeBackTheSame) {
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = Storage::kShared};
  sink.mode = ExchangeMode::kRange;
  sink.keys = {"a"};
  sink.num_partitions = 9;
  sink.sort_keys = {{"id", false}};
  sink.nulls_first = true;
  sink.boundaries = Numbered(3);
  sink.first_row = 5;
  sink.total_rows = 50;
  sink.format = "csv";
  sink.options = std::make_shared<const EncodedOptions>(arrow::Buffer::FromString("a"));
  sink.partition_cols = {{"k"}};
  sink.path = "out/part";
  PlanEncoder encoder(context_->storage());
  ASSERT_OK(encoder.Put(sink));
  PlanDecoder decoder(encoder.bytes().Finish(), {}, context_->storage());
  SinkSpec again;
  ASSERT_OK(decoder.Get(&again));
  EXPECT_EQ(again.kind, sink.kind);
  EXPECT_EQ(again.storage, sink.storage);
  EXPECT_EQ(again.mode, sink.mode);
  EXPECT_EQ(again.keys, sink.keys);
  EXPECT_EQ(again.num_partitions, 9);
  EXPECT_EQ(again.sort_keys[0].column, "id");
  EXPECT_FALSE(again.sort_keys[0].ascending);
  EXPECT_TRUE(again.nulls_first);
  EXPECT_TRUE(again.boundaries->Equals(*Numbered(3)));
  EXPECT_EQ(again.first_row, 5);
  EXPECT_EQ(again.total_rows, 50);
  EXPECT_EQ(again.format, "csv");
  ASSERT_OK_AND_ASSIGN(const auto options, again.options->Encode());
  EXPECT_EQ(options->ToString(), "a");
  EXPECT_EQ(again.partition_cols, sink.partition_cols);
  EXPECT_EQ(again.path, "out/part");
}

}  // namespace
}  // namespace xshards
