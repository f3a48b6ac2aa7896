// SPDX-License-Identifier: Apache-2.0
#include "xshards/function/tensor_view.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::Batch;
using testing::Numbered;
using testing::TestContext;

const auto kPoints = arrow::schema(
    {arrow::field("x", arrow::float64()), arrow::field("y", arrow::float64())});

TEST(TensorView, ShowsAColumnWithoutACopy) {
  ShardView shard(Numbered(5));
  ASSERT_OK_AND_ASSIGN(auto view, ColumnView<int64_t>(shard, "id"));
  ASSERT_OK_AND_ASSIGN(auto column, shard.column("id"));
  EXPECT_EQ(view.data() + view.data_offset(),
            static_cast<const arrow::Int64Array&>(*column).raw_values());
  EXPECT_EQ(xt::sum(view)(), 10);
}

TEST(TensorView, RejectsAnotherTypeAndMissingValues) {
  ShardView shard(Batch(kPoints, R"([{"x": 1, "y": null}])"));
  EXPECT_FAILS(TypeError, "Column 'x' is double, not float",
               ColumnView<float>(shard, "x"));
  EXPECT_FAILS(Invalid, "Column 'y' has 1 missing values",
               ColumnView<double>(shard, "y"));
}

TEST(TensorView, AColumnKeepsItsTensorAlive) {
  std::shared_ptr<arrow::Array> column;
  {
    xt::xtensor<double, 1> tensor = xt::arange<double>(3);
    ASSERT_OK_AND_ASSIGN(column, ToColumn(std::move(tensor)));
  }
  EXPECT_TRUE(column->Equals(testing::Array(arrow::float64(), "[0, 1, 2]")));
}

TEST(TensorView, OverColumnsIsATransform) {
  auto batch = Batch(kPoints, R"([{"x": 3, "y": 4}, {"x": 0, "y": 0}])");
  ASSERT_OK_AND_ASSIGN(auto shards, XShards::FromBatches(TestContext(), {batch}));
  auto normed = shards.TransformShard(OverColumns<double>(
      {"x", "y"}, "norm",
      [](const auto& x, const auto& y) { return xt::sqrt(x * x + y * y); }));
  ASSERT_OK_AND_ASSIGN(auto table, normed.ToTable());
  EXPECT_TRUE(table->GetColumnByName("norm")->chunk(0)->Equals(
      testing::Array(arrow::float64(), "[5, 0]")));
}

}  // namespace
}  // namespace xshards
