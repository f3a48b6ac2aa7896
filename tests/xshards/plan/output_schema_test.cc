// SPDX-License-Identifier: Apache-2.0
#include <arrow/array/util.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/plan/plan.h"
#include "xshards/shards.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {
namespace {

using testing::Batch;
using testing::TestContext;

class PlanSchemaTest : public ::testing::Test {
 protected:
  XShards Shards(const std::shared_ptr<arrow::Schema>& schema) const {
    return XShards::FromBatches(context_, {Batch(schema, "[]")}).ValueOrDie();
  }
  const std::shared_ptr<Context> context_ = TestContext();
  const std::shared_ptr<arrow::Schema> schema_ = arrow::schema(
      {arrow::field("k", arrow::large_utf8()), arrow::field("i", arrow::int32()),
       arrow::field("f", arrow::float32())});
  const XShards shards_ = Shards(schema_);
};

TEST_F(PlanSchemaTest, WithColumnReplacesInPlaceOrAddsAtTheEnd) {
  ASSERT_OK_AND_ASSIGN(auto replaced,
                       shards_.WithColumn("i", col("i") / lit(2)).schema());
  EXPECT_EQ(replaced->ToString(), "k: large_string\ni: double\nf: float");
  ASSERT_OK_AND_ASSIGN(auto added, shards_.WithColumn("z", col("i") > lit(2)).schema());
  EXPECT_EQ(added->field_names(), (std::vector<std::string>{"k", "i", "f", "z"}));
}

TEST_F(PlanSchemaTest, AggregatesHaveTheTypesPandasGives) {
  auto grouped = shards_.GroupBy({"k"}, {{"sum", "i", "a"},
                                         {"sum", "f", "b"},
                                         {"mean", "i", "c"},
                                         {"mean", "f", "d"},
                                         {"min", "k", "e"},
                                         {"count", kAllRows, "g"}});
  ASSERT_OK_AND_ASSIGN(auto schema, grouped.schema());
  EXPECT_EQ(schema->ToString(),
            "k: large_string\na: int64\nb: float\nc: double\nd: double\n"
            "e: large_string\ng: int64");
}

TEST_F(PlanSchemaTest, PicksNoExtremesOfPythonObjects) {
  const auto notes = arrow::key_value_metadata({"xshards.opaque"}, {"pickle"});
  const auto objects = arrow::field("o", arrow::large_binary())->WithMetadata(notes);
  const auto shards = Shards(arrow::schema({objects}));
  EXPECT_FAILS(TypeError, "The max of column 'o' needs ordered values, got Python",
               shards.GroupBy({}, {{"max", "o", "x"}}).schema());
  ASSERT_OK_AND_ASSIGN(auto first, shards.GroupBy({}, {{"first", "o", "x"}}).schema());
  EXPECT_TRUE(IsOpaque(*first->field(0)));
  // Ordered categories are compared by their places, whatever they are.
  ASSERT_OK_AND_ASSIGN(
      auto category,
      WithCategories(objects, arrow::MakeEmptyArray(arrow::large_binary()).ValueOrDie(),
                     /*ordered=*/true));
  ASSERT_OK_AND_ASSIGN(
      auto largest,
      Shards(arrow::schema({category})).GroupBy({}, {{"max", "o", "x"}}).schema());
  EXPECT_TRUE(IsOrdered(*largest->field(0)));
}

TEST_F(PlanSchemaTest, ComparesNoPythonObjects) {
  const auto notes = arrow::key_value_metadata({"xshards.opaque"}, {"pickle"});
  const auto objects = arrow::field("ö", arrow::large_binary())->WithMetadata(notes);
  const auto shards = Shards(arrow::schema({objects, arrow::field("n", arrow::int8())}));
  const char* order = "Column 'ö' holds Python objects, which only Python can order";
  EXPECT_FAILS(TypeError, order, shards.Sort({{"n", true}, {"ö", true}}).schema());
  EXPECT_FAILS(TypeError, order, shards.PartitionByRange({"ö"}).schema());
  const char* equal = "Column 'ö' holds Python objects, which only Python can compare";
  EXPECT_FAILS(TypeError, equal, shards.PartitionBy({"n", "ö"}).schema());
  EXPECT_FAILS(TypeError, equal, shards.Distinct().schema());
  EXPECT_FAILS(TypeError, equal, shards.GroupBy({"ö"}, {{"sum", "n", "x"}}).schema());
  EXPECT_FAILS(TypeError, equal, shards.GroupBy({}, {{"nunique", "ö", "x"}}).schema());
  const JoinNode join{.left_keys = {"ö"}, .right_keys = {"ö"}};
  EXPECT_FAILS(TypeError, equal, shards.Join(shards, join).schema());
  // What only moves them is free to.
  ASSERT_OK(shards.Sort({{"n", true}}).schema());
  ASSERT_OK(shards.GroupBy({"n"}, {{"first_value", "ö", "x"}}).schema());
  ASSERT_OK(shards.Repartition(3).schema());
}

TEST_F(PlanSchemaTest, MultipliesOnlyNumbers) {
  const auto shards =
      Shards(arrow::schema({arrow::field("t", arrow::duration(arrow::TimeUnit::SECOND)),
                            arrow::field("d", arrow::decimal128(5, 2))}));
  EXPECT_FAILS(TypeError, "The prod of column 't' needs numbers",
               shards.GroupBy({}, {{"prod", "t", "x"}}).schema());
  EXPECT_FAILS(TypeError, "cast it to float64 first",
               shards.GroupBy({}, {{"prod", "d", "x"}}).schema());
}

TEST_F(PlanSchemaTest, RejectsInvalidNodes) {
  EXPECT_FAILS(TypeError, "The sum of column 'k' needs numbers, got large_string",
               shards_.GroupBy({"i"}, {{"sum", "k", "x"}}).schema());
  EXPECT_FAILS(Invalid, "There is no aggregate 'median_of_medians'; there are:",
               shards_.GroupBy({"i"}, {{"median_of_medians", "k", "x"}}).schema());
  EXPECT_FAILS(Invalid, "Only count works on all rows; name a column for sum",
               shards_.GroupBy({"i"}, {{"sum", kAllRows, "x"}}).schema());
  EXPECT_FAILS(KeyError, "There is no column '*'; there are: k, i, f",
               shards_.GroupBy({"i"}, {{"count", "*", "x"}}).schema());
  EXPECT_FAILS(KeyError, "There is no column 'zz'; there are: k, i, f",
               shards_.PartitionBy({"zz"}).schema());
  EXPECT_FAILS(KeyError, "'zz'", shards_.Sort({{"zz", true}}).schema());
  EXPECT_FAILS(KeyError, "'zz'", shards_.Drop({"zz"}).schema());
  EXPECT_FAILS(TypeError, "needs a boolean expression",
               shards_.Filter(col("i") + lit(1)).schema());
}

TEST_F(PlanSchemaTest, JoinNamesColumnsAsPandasDoes) {
  auto right = Shards(arrow::schema({arrow::field("k", arrow::large_utf8()),
                                     arrow::field("i", arrow::int64()),
                                     arrow::field("new", arrow::boolean())}));
  JoinNode on_key{.left_keys = {"k"}, .right_keys = {"k"}};
  ASSERT_OK_AND_ASSIGN(auto schema, shards_.Join(right, on_key).schema());
  EXPECT_EQ(schema->field_names(),
            (std::vector<std::string>{"k", "i_x", "f", "i_y", "new"}));
  JoinNode mixed{.left_keys = {"k"}, .right_keys = {"i"}};
  EXPECT_FAILS(TypeError, "Cannot join 'k' (large_string) with 'i' (int64)",
               shards_.Join(right, mixed).schema());
  auto unsigned_side = Shards(arrow::schema({arrow::field("i", arrow::uint64())}));
  JoinNode signs{.left_keys = {"i"}, .right_keys = {"i"}};
  ASSERT_OK_AND_ASSIGN(auto inner, right.Join(unsigned_side, signs).schema());
  EXPECT_EQ(inner->GetFieldByName("i")->type()->id(), arrow::Type::INT64);
  signs.type = JoinType::kOuter;
  ASSERT_OK_AND_ASSIGN(auto outer, right.Join(unsigned_side, signs).schema());
  EXPECT_EQ(outer->GetFieldByName("i")->type()->id(), arrow::Type::DOUBLE);
  JoinNode uneven{.left_keys = {"k"}, .right_keys = {}};
  EXPECT_FAILS(Invalid, "got 1 and 0", shards_.Join(right, uneven).schema());
}

TEST_F(PlanSchemaTest, DtypesFollowTheirColumns) {
  auto masked = WithDtype(arrow::field("n", arrow::int8()), "Int8");
  auto shards = Shards(arrow::schema({masked, arrow::field("k", arrow::int64())}));
  auto dtype = [](const XShards& of, const std::string& column) {
    auto schema = of.schema();
    EXPECT_TRUE(schema.ok()) << schema.status();
    return schema.ok() ? DtypeName(*(*schema)->GetFieldByName(column)) : "";
  };
  EXPECT_EQ(dtype(shards.Select({{"m", col("n")}}), "m"), "Int8");
  EXPECT_EQ(dtype(shards.Filter(col("n") > lit(1)).Sort({{"k", true}}), "n"), "Int8");
  EXPECT_EQ(dtype(shards.GroupBy({"n"}, {{"count", kAllRows, "c"}}), "n"), "Int8");
  EXPECT_EQ(dtype(shards.GroupBy({"k"}, {{"max", "n", "m"}}), "m"), "Int8");
  EXPECT_EQ(dtype(shards.GroupBy({"k"}, {{"sum", "n", "m"}}), "m"), "Int64");
  EXPECT_EQ(dtype(shards.GroupBy({"k"}, {{"mean", "n", "m"}}), "m"), "Float64");
  EXPECT_EQ(dtype(shards.GroupBy({"k"}, {{"nunique", "n", "m"}}), "m"), "");
  auto joined = shards.Join(shards, {.left_keys = {"n"}, .right_keys = {"n"}});
  EXPECT_EQ(dtype(joined, "n"), "Int8");
  EXPECT_EQ(dtype(shards.Union(shards), "n"), "Int8");
}

TEST_F(PlanSchemaTest, RefusesTwoColumnsOfOneName) {
  EXPECT_FAILS(Invalid, "Two columns would be named 'k'",
               shards_.Select({"k", "i", "k"}).schema());
}

TEST_F(PlanSchemaTest, IsUnknownBelowAFunctionUntilItRan) {
  auto mapped = shards_.TransformShard([](const ShardView& shard) { return shard; });
  ASSERT_OK_AND_ASSIGN(auto unknown, OutputSchema(*mapped.plan()));
  EXPECT_EQ(unknown, nullptr);
}

TEST_F(PlanSchemaTest, IsFoundOncePerNode) {
  Plan plan = shards_.plan();
  for (int i = 0; i < 50; ++i) {
    plan = MakeNode(ProjectNode{.names = {"c" + std::to_string(i)},
                                .expressions = {col("i") + lit(i)},
                                .keep_input = true,
                                .drop = {}},
                    {std::move(plan)});
  }
  ASSERT_OK_AND_ASSIGN(const auto first, OutputSchema(*plan));
  EXPECT_EQ(first->num_fields(), 53);
  ASSERT_OK_AND_ASSIGN(const auto second, OutputSchema(*plan));
  EXPECT_EQ(first, second);
}

TEST_F(PlanSchemaTest, IsKeptOverInputsOfTheSameSchema) {
  const auto node_over = [](const XShards& shards) {
    return MakeNode(ProjectNode{.names = {"f"}, .expressions = {col("f") + lit(1)}},
                    {shards.plan()});
  };
  const Plan plan = node_over(shards_);
  const Plan same = WithInputs(plan, {Shards(schema_).Filter(col("i") > lit(1)).plan()});
  EXPECT_EQ(*OutputSchema(*same), *OutputSchema(*plan));
  const auto other = Shards(arrow::schema({arrow::field("f", arrow::int8())}));
  EXPECT_TRUE((*OutputSchema(*WithInputs(plan, {other.plan()})))
                  ->Equals(*OutputSchema(*node_over(other)).ValueOrDie()));
  EXPECT_EQ(WithInputs(plan, plan->inputs), plan);
  const auto invalid = Shards(arrow::schema({arrow::field("g", arrow::int8())}));
  EXPECT_FAILS(KeyError, "'f'", OutputSchema(*WithInputs(plan, {invalid.plan()})));
}

TEST_F(PlanSchemaTest, IsUnknownWithoutTheInputs) {
  for (const NodeVariant& node :
       {NodeVariant(SortNode{.keys = {{.column = "i"}}}), NodeVariant(JoinNode{}),
        NodeVariant(UnionNode{}), NodeVariant(CacheNode{})}) {
    ASSERT_OK_AND_ASSIGN(const auto schema, OutputSchema(*MakeNode(node)));
    EXPECT_EQ(schema, nullptr);
  }
}

TEST_F(PlanSchemaTest, CountsPartitionsWithoutRunning) {
  EXPECT_EQ(NumPartitions(*shards_.plan()), 1);
  EXPECT_EQ(NumPartitions(*shards_.PartitionBy({"k"}, 5).plan()), 5);
  EXPECT_EQ(NumPartitions(*shards_.Union(shards_).Filter(col("i") > lit(1)).plan()), 2);
  // Rows stay where they are, unless reading files again is what that would take.
  EXPECT_EQ(NumPartitions(*shards_.Union(shards_).Distinct().plan()), 2);
  const Plan files = MakeNode(ScanNode{.splits = {{}, {}, {}}});
  EXPECT_EQ(NumPartitions(*MakeNode(DistinctNode{}, {files})), 1);
  EXPECT_EQ(NumPartitions(*MakeNode(DistinctNode{.keys = {"k"}}, {files})), 3);
  EXPECT_EQ(NumPartitions(*shards_.Head(3).plan()), -1);
}

}  // namespace
}  // namespace xshards
