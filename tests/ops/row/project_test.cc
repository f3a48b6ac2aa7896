// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Project : public OperatorTest {};

ProjectNode Compute(const std::string& name, Expression expression) {
  return {.names = {name}, .expressions = {std::move(expression)}, .keep_input = true};
}

TEST_F(Project, ForwardsBareColumnsWithoutACopy) {
  const auto batch = Batch(
      {{"a", arrow::int64(), "[1, 2]"}, {"b", arrow::large_utf8(), R"(["x", null])"}});
  const auto out = Get(RunToBatch(
      ProjectNode{.names = {"c", "a"}, .expressions = {col("b"), col("a")}}, {{batch}}));
  EXPECT_EQ(out->schema()->field_names(), (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(out->column(0)->data()->buffers[2], batch->column(1)->data()->buffers[2]);
  EXPECT_EQ(out->column(1)->data()->buffers[1], batch->column(0)->data()->buffers[1]);
}

TEST_F(Project, ReplacesAColumnInItsPlaceAndAddsOthersAtTheEnd) {
  const auto batch = Batch(
      {{"a", arrow::int64(), "[1, null, 3]"}, {"b", arrow::int64(), "[10, 20, 30]"}});
  const auto replaced = Get(RunToBatch(Compute("a", col("a") + col("b")), {{batch}}));
  ExpectBatch(replaced, Batch({{"a", arrow::int64(), "[11, null, 33]"},
                               {"b", arrow::int64(), "[10, 20, 30]"}}));
  const auto added = Get(RunToBatch(Compute("c", col("b") * lit(2)), {{batch}}));
  EXPECT_EQ(added->schema()->field_names(), (std::vector<std::string>{"a", "b", "c"}));
  ExpectArray(added->column(2), Json(arrow::int64(), "[20, 40, 60]"));
}

TEST_F(Project, RepeatsConstants) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2, 3]"}});
  const auto out = Get(RunToBatch(Compute("k", lit("κ")), {{batch}}));
  ExpectArray(out->column(1), Json(arrow::large_utf8(), R"(["κ", "κ", "κ"])"));
}

TEST_F(Project, DropsColumns) {
  const auto batch = Batch({{"a", arrow::int64(), "[1]"}, {"b", arrow::int64(), "[2]"}});
  const auto out =
      Get(RunToBatch(ProjectNode{.keep_input = true, .drop = {"a"}}, {{batch}}));
  ExpectBatch(out, Batch({{"b", arrow::int64(), "[2]"}}));
}

TEST_F(Project, KnowsItsSchemaWithoutRows) {
  const auto empty = Batch({{"a", arrow::int64(), "[]"}});
  const auto out = Get(RunToBatch(Compute("half", col("a") / lit(2)), {{empty}}));
  EXPECT_EQ(out->num_rows(), 0);
  EXPECT_EQ(*out->schema()->field(1)->type(), *arrow::float64());
}

TEST_F(Project, BindsToALateSchema) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2]"}});
  const auto stream = Get(OpenLate(Compute("b", col("a") + lit(1)), {{batch}}));
  EXPECT_EQ(stream->schema(), nullptr);
  const auto out = Get(stream->Next());
  ASSERT_NE(stream->schema(), nullptr);
  ExpectArray(out->column(1), Json(arrow::int64(), "[2, 3]"));
}

TEST_F(Project, NamesAnUnknownColumnAtOpening) {
  const auto batch = Batch({{"a", arrow::int64(), "[1]"}});
  EXPECT_FAILS(KeyError, "nope", Open(Compute("b", col("nope")), {{batch}}));
}

TEST_F(Project, NamesTheColumnWhoseComputationFails) {
  const auto batch = Batch({{"a", arrow::large_utf8(), R"(["1", "x"])"}});
  const auto out = Run(Compute("number", col("a").Cast(arrow::int64())), {{batch}});
  EXPECT_FAILS(Invalid, "number", out);
}

}  // namespace
}  // namespace xshards::ops
