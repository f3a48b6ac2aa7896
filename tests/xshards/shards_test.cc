// SPDX-License-Identifier: Apache-2.0
#include "xshards/shards.h"

#include <algorithm>
#include <atomic>

#include <arrow/array/concatenate.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Array;
using testing::Batch;
using testing::Ids;
using testing::Numbered;
using testing::NumberedShards;
using testing::TestContext;

class ShardsTest : public ::testing::Test {
 protected:
  std::shared_ptr<Context> context_ = TestContext();
  XShards shards_ = NumberedShards(context_, 4, 25);
};

TEST_F(ShardsTest, FromTableSplitsAsNumpyDoes) {
  ASSERT_OK_AND_ASSIGN(auto table, arrow::Table::FromRecordBatches({Numbered(10)}));
  for (int count : {1, 3, 10, 12}) {
    ASSERT_OK_AND_ASSIGN(auto shards, XShards::FromTable(context_, table, count));
    ASSERT_OK_AND_ASSIGN(auto partitions, shards.Collect());
    ASSERT_EQ(partitions.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(partitions[static_cast<size_t>(i)].num_rows(),
                10 / count + (i < 10 % count ? 1 : 0));
    }
    ASSERT_OK_AND_ASSIGN(auto again, shards.ToTable());
    EXPECT_TRUE(again->Equals(*table));
  }
}

TEST_F(ShardsTest, FromPayloadsSharesThemWithOtherProcesses) {
  ASSERT_OK_AND_ASSIGN(auto object, Payload::Object(arrow::Buffer::FromString("x"), {}));
  ASSERT_OK_AND_ASSIGN(auto shards,
                       XShards::FromPayloads(context_, {{object, object}, {}, {object}}));
  ASSERT_OK_AND_ASSIGN(auto partitions, shards.Collect());
  ASSERT_EQ(partitions.size(), 3);
  EXPECT_EQ(partitions[0].storage(), Storage::kShared);
  std::vector<size_t> counts;
  for (const auto& partition : partitions) {
    ASSERT_OK_AND_ASSIGN(auto payloads, partition.Load());
    counts.push_back(payloads.size());
    for (const auto& payload : payloads) {
      ASSERT_OK_AND_ASSIGN(auto buffers, payload.object_buffers());
      EXPECT_EQ(buffers[0]->ToString(), "x");
    }
  }
  EXPECT_EQ(counts, (std::vector<size_t>{2, 0, 1}));
}

TEST_F(ShardsTest, FromPayloadsKeepsTheSchemaOfAnEmptyTable) {
  const auto rows = Numbered(3);
  ASSERT_OK_AND_ASSIGN(
      auto shards,
      XShards::FromPayloads(context_, {{Payload::Table(rows->schema(), {})},
                                       {Payload::Table(rows->schema(), {rows})}}));
  ASSERT_OK_AND_ASSIGN(auto table, shards.ToTable());
  EXPECT_EQ(Ids(*table), (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(ShardsTest, CollectFirstRunsAtMostOneExtraWave) {
  std::atomic<int> calls = 0;
  const auto counted = shards_.TransformShard([&](const ShardView& shard) {
    ++calls;
    return shard;
  });
  ASSERT_OK_AND_ASSIGN(auto none, counted.CollectFirst(0));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(calls, 0);
  ASSERT_OK_AND_ASSIGN(auto first, counted.CollectFirst(1));
  EXPECT_EQ(static_cast<int>(first.size()), calls);
  EXPECT_LE(calls, context_->cores());
  ASSERT_OK_AND_ASSIGN(auto all, counted.CollectFirst(100));
  EXPECT_EQ(all.size(), 4);
}

TEST_F(ShardsTest, FiltersSelectsAndAddsColumns) {
  auto result = shards_.Filter(col("id") >= lit(95))
                    .WithColumn("half", col("id") / lit(2))
                    .Drop({"key", "value"});
  ASSERT_OK_AND_ASSIGN(auto table, result.ToTable());
  EXPECT_EQ(table->schema()->field_names(), (std::vector<std::string>{"id", "half"}));
  ASSERT_OK_AND_ASSIGN(auto batch, table->CombineChunksToBatch());
  EXPECT_TRUE(
      batch->column(1)->Equals(Array(arrow::float64(), "[47.5, 48, 48.5, 49, 49.5]")));
}

TEST_F(ShardsTest, SelectsByNameOrByExpression) {
  ASSERT_OK_AND_ASSIGN(auto named, shards_.Select({"key", "id"}).schema());
  EXPECT_EQ(named->field_names(), (std::vector<std::string>{"key", "id"}));
  ASSERT_OK_AND_ASSIGN(auto one, shards_.Select({"key"}).schema());
  EXPECT_EQ(one->num_fields(), 1);
  ASSERT_OK_AND_ASSIGN(auto computed,
                       shards_.Select({{"x", col("id") / lit(2)}}).schema());
  EXPECT_EQ(computed->field(0)->type()->id(), arrow::Type::DOUBLE);
}

TEST_F(ShardsTest, UniqueKeepsTheOrderOfFirstAppearance) {
  ASSERT_OK_AND_ASSIGN(auto actual, shards_["key"].Unique());
  ASSERT_OK_AND_ASSIGN(auto table, shards_.ToTable());
  ASSERT_OK_AND_ASSIGN(auto all, table->CombineChunksToBatch());
  const auto& keys = static_cast<const arrow::LargeStringArray&>(*all->column(1));
  std::vector<std::string> expected;
  for (int64_t i = 0; i < keys.length(); ++i) {
    auto key = keys.IsNull(i) ? std::string("<missing>") : keys.GetString(i);
    if (std::find(expected.begin(), expected.end(), key) == expected.end()) {
      expected.push_back(key);
    }
  }
  const auto& values = static_cast<const arrow::LargeStringArray&>(*actual);
  ASSERT_EQ(values.length(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < values.length(); ++i) {
    EXPECT_EQ(values.IsNull(i) ? "<missing>" : values.GetString(i),
              expected[static_cast<size_t>(i)]);
  }
  EXPECT_FAILS(Invalid, "Unique() works on one column", shards_.Unique());
}

TEST_F(ShardsTest, CountsWithAndWithoutAFilter) {
  ASSERT_OK_AND_ASSIGN(int64_t all, shards_.Count());
  ASSERT_OK_AND_ASSIGN(int64_t some, shards_.Filter(col("id") < lit(10)).Count());
  ASSERT_OK_AND_ASSIGN(int64_t none, shards_.Filter(col("id") < lit(0)).Count());
  EXPECT_EQ(all, 100);
  EXPECT_EQ(some, 10);
  EXPECT_EQ(none, 0);
}

TEST_F(ShardsTest, GroupsAndJoinsAcrossPartitions) {
  auto grouped =
      shards_.GroupBy({"key"}, {{"count", kAllRows, "n"}, {"max", "id", "last"}});
  ASSERT_OK_AND_ASSIGN(auto table, grouped.ToTable());
  EXPECT_EQ(table->num_rows(), 8);
  int64_t rows = 0;
  for (int64_t n : Ids(*table, "n")) rows += n;
  EXPECT_EQ(rows, 100);
  auto joined = shards_.Join(grouped, {.left_keys = {"key"}, .right_keys = {"key"}});
  ASSERT_OK_AND_ASSIGN(int64_t joined_rows, joined.Count());
  EXPECT_EQ(joined_rows, 100);
}

TEST_F(ShardsTest, UnionConcatenatesPartitions) {
  auto both = shards_.Union(NumberedShards(context_, 1, 3));
  ASSERT_OK_AND_ASSIGN(int count, both.num_partitions());
  EXPECT_EQ(count, 5);
  ASSERT_OK_AND_ASSIGN(auto table, both.ToTable());
  EXPECT_EQ(table->num_rows(), 103);
  EXPECT_EQ(Ids(*table).back(), 2);
}

TEST_F(ShardsTest, DistinctKeepsTheFirstOfEqualRows) {
  auto schema = arrow::schema(
      {arrow::field("a", arrow::int64()), arrow::field("b", arrow::float64())});
  auto one = Batch(schema, R"([{"a": 1, "b": NaN}, {"a": 2, "b": 0.0}])");
  auto two =
      Batch(schema, R"([{"a": 1, "b": null}, {"a": 2, "b": -0.0}, {"a": 3, "b": 1}])");
  ASSERT_OK_AND_ASSIGN(auto shards, XShards::FromBatches(context_, {one, two}));
  ASSERT_OK_AND_ASSIGN(auto table, shards.Distinct().ToTable());
  EXPECT_EQ(Ids(*table, "a"), (std::vector<int64_t>{1, 2, 3}));
}

TEST_F(ShardsTest, ShardsOfTwoContextsDoNotMix) {
  auto other = NumberedShards(TestContext(), 2, 5).PartitionBy({"key"}, 2).Cache();
  ASSERT_OK(other.Count());
  EXPECT_FAILS(Invalid, "belong to different Contexts", shards_.Union(other).ToTable());
  EXPECT_FAILS(Invalid, "belong to different Contexts",
               shards_.Join(other, {.left_keys = {"id"}, .right_keys = {"id"}}).Count());
  const auto mixed = shards_.Zip(other).Filter(col("id") > lit(1));
  EXPECT_FAILS(Invalid, "belong to different Contexts", mixed.status());
  EXPECT_FAILS(Invalid, "belong to different Contexts", mixed.schema());
  EXPECT_FAILS(Invalid, "belong to different Contexts", mixed.num_partitions());
  EXPECT_FAILS(Invalid, "belong to different Contexts", mixed.Explain());
  EXPECT_FAILS(Invalid, "belong to different Contexts", mixed.WriteCsv("nowhere"));
}

TEST_F(ShardsTest, AssignmentDestroysThePlanBeforeItsContext) {
  // Its cached blocks belong to the budget of the Context it was made with.
  auto shards = NumberedShards(TestContext(), 2, 50).PartitionBy({"key"}, 2).Cache();
  ASSERT_OK(shards.Count());
  shards = shards_;
  ASSERT_OK_AND_ASSIGN(int64_t rows, shards.Count());
  EXPECT_EQ(rows, 100);
  auto& same = shards;
  shards = same;
  EXPECT_EQ(shards.plan(), shards_.plan());
}

TEST_F(ShardsTest, RenamesFillsAndCountsValues) {
  const auto schema = arrow::schema(
      {arrow::field("a", arrow::int64()), arrow::field("b", arrow::large_utf8())});
  ASSERT_OK_AND_ASSIGN(
      auto shards,
      XShards::FromBatches(
          context_, {Batch(schema, R"([{"a": 1, "b": "x"}, {"a": null, "b": "y"}])"),
                     Batch(schema, R"([{"a": 2, "b": "y"}, {"a": 0, "b": "z"}])")}));
  ASSERT_OK_AND_ASSIGN(auto renamed, shards.Rename({{"b", "a"}, {"a", "c"}}));
  ASSERT_OK_AND_ASSIGN(auto known, renamed.schema());
  EXPECT_EQ(known->field_names(), (std::vector<std::string>{"c", "a"}));
  EXPECT_FAILS(KeyError, "There is no column 'gone' to rename to 'x'",
               shards.Rename({{"gone", "x"}}));
  ASSERT_OK_AND_ASSIGN(auto filled, shards.FillNull({"a"}, lit(7))["a"].ToTable());
  ASSERT_OK_AND_ASSIGN(auto column, arrow::Concatenate(filled->column(0)->chunks()));
  EXPECT_TRUE(column->Equals(Array(arrow::int64(), "[1, 7, 2, 0]")));
  ASSERT_OK_AND_ASSIGN(auto counts, shards.ValueCounts({"b"}, "n"));
  ASSERT_OK_AND_ASSIGN(auto table, counts.ToTable());
  ASSERT_OK_AND_ASSIGN(auto rows, table->CombineChunksToBatch());
  EXPECT_TRUE(rows->GetColumnByName("n")->Equals(Array(arrow::int64(), "[2, 1, 1]")));
  EXPECT_TRUE(rows->GetColumnByName("b")->Equals(
      Array(arrow::large_utf8(), R"(["y", "x", "z"])")));
}

TEST_F(ShardsTest, GroupsAreOrderedOnRequest) {
  std::vector<Aggregate> first = {{"min", "id", "first"}};
  ASSERT_OK_AND_ASSIGN(auto table, shards_.GroupBy({"key"}, first, true).ToTable());
  const auto rows = Ids(*table->RenameColumns({"key", "id"}).ValueOrDie());
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST_F(ShardsTest, DropDuplicatesKeepsTheFirstTheLastOrNone) {
  auto schema = arrow::schema(
      {arrow::field("a", arrow::int64()), arrow::field("b", arrow::int64())});
  auto one = Batch(schema, R"([{"a": 1, "b": null}, {"a": 2, "b": 2}])");
  auto two = Batch(schema, R"([{"a": 3, "b": 3}, {"a": 1, "b": 4}])");
  ASSERT_OK_AND_ASSIGN(auto shards, XShards::FromBatches(context_, {one, two}));
  const auto kept = [&](Keep keep, const std::string& column) {
    return Ids(*shards.DropDuplicates({"a"}, keep).ValueOrDie().ToTable().ValueOrDie(),
               column);
  };
  using Values = std::vector<int64_t>;
  EXPECT_EQ(kept(Keep::kFirst, "a"), (Values{1, 2, 3}));
  EXPECT_EQ(kept(Keep::kLast, "a"), (Values{2, 3, 1}));
  EXPECT_EQ(kept(Keep::kLast, "b"), (Values{2, 3, 4}));
  EXPECT_EQ(kept(Keep::kNone, "a"), (Values{2, 3}));
  ASSERT_OK_AND_ASSIGN(auto all, shards.DropDuplicates({}));
  ASSERT_OK_AND_ASSIGN(int64_t rows, all.Count());
  EXPECT_EQ(rows, 4);
}

TEST_F(ShardsTest, ErrorsAreReportedByActions) {
  auto wrong = shards_.Filter(col("nope") > lit(1));
  EXPECT_FAILS(KeyError, "'nope'", wrong.schema());
  EXPECT_FAILS(KeyError, "'nope'", wrong.Count());
  EXPECT_FAILS(KeyError, "'nope'", wrong.Explain());
  EXPECT_FAILS(KeyError, "'zz'",
               shards_.TransformShard([](const ShardView& s) { return s; })
                   .PartitionBy({"zz"}, 2)
                   .ToTable());
}

TEST_F(ShardsTest, EmptyInputsGiveEmptyResultsWithTheirSchema) {
  auto empty = NumberedShards(context_, 3, 0);
  for (const auto& shards :
       {empty, empty.Filter(col("id") > lit(1)), empty.PartitionBy({"key"}, 2),
        empty.Sort({{"id", true}}), empty.Repartition(5), empty.Distinct(),
        empty.Join(empty, {.left_keys = {"id", "key", "value"},
                           .right_keys = {"id", "key", "value"}}),
        empty.Head(3)}) {
    ASSERT_OK_AND_ASSIGN(auto table, shards.ToTable());
    EXPECT_EQ(table->num_rows(), 0);
    EXPECT_EQ(table->schema()->field_names(),
              (std::vector<std::string>{"id", "key", "value"}));
  }
  ASSERT_OK_AND_ASSIGN(auto total,
                       empty.GroupBy({}, {{"count", kAllRows, "n"}}).ToTable());
  EXPECT_EQ(Ids(*total, "n"), (std::vector<int64_t>{0}));
  ASSERT_OK_AND_ASSIGN(auto groups,
                       empty.GroupBy({"key"}, {{"count", kAllRows, "n"}}).ToTable());
  EXPECT_EQ(groups->num_rows(), 0);
}

}  // namespace
}  // namespace xshards
