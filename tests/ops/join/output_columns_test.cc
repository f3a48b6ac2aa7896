// SPDX-License-Identifier: Apache-2.0
#include "ops/join/output_columns.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class JoinColumnsTest : public OperatorTest {
 protected:
  const std::shared_ptr<arrow::RecordBatch> left_ = Batch(
      {{"k", arrow::int8(), "[1, 2]"}, {"v", arrow::large_utf8(), R"(["a", "b"])"}});
  const std::shared_ptr<arrow::RecordBatch> right_ =
      Batch({{"v", arrow::int64(), "[10, 20]"}, {"k", arrow::int64(), "[2, 300]"}});

  JoinColumns Make(JoinType type) {
    const JoinNode node{.type = type, .left_keys = {"k"}, .right_keys = {"k"}};
    return Get(JoinColumns::Make(node, *left_->schema(), *right_->schema()));
  }
};

TEST_F(JoinColumnsTest, CombinesRowsOfBothSides) {
  const auto columns = Make(JoinType::kLeft);
  EXPECT_EQ(columns.probe_keys(), (std::vector<int>{0}));
  EXPECT_EQ(columns.build_keys(), (std::vector<int>{1}));
  const auto pair = Get(columns.Pair(*left_, Json(arrow::int64(), "[0, 1]"), *right_,
                                     Json(arrow::int64(), "[null, 0]"), context_.pool));
  ExpectBatch(pair, Batch({{"k", arrow::int8(), "[1, 2]"},
                           {"v_x", arrow::large_utf8(), R"(["a", "b"])"},
                           {"v_y", arrow::int64(), "[null, 10]"}}));
}

TEST_F(JoinColumnsTest, UnmatchedBuildRowsKeepTheirKey) {
  const auto columns = Make(JoinType::kOuter);
  const auto alone =
      Get(columns.BuildOnly(*right_, Json(arrow::int64(), "[1]"), context_.pool));
  ExpectBatch(alone, Batch({{"k", arrow::int64(), "[300]"},
                            {"v_x", arrow::large_utf8(), "[null]"},
                            {"v_y", arrow::int64(), "[20]"}}));
}

TEST_F(JoinColumnsTest, RightJoinBuildsOnTheLeftSide) {
  const auto columns = Make(JoinType::kRight);
  EXPECT_EQ(columns.probe_keys(), (std::vector<int>{1}));
  EXPECT_EQ(columns.build_keys(), (std::vector<int>{0}));
  const auto pair = Get(columns.Pair(*right_, Json(arrow::int64(), "[1, 0]"), *left_,
                                     Json(arrow::int64(), "[null, 1]"), context_.pool));
  ExpectBatch(pair, Batch({{"k", arrow::int64(), "[300, 2]"},
                           {"v_x", arrow::large_utf8(), R"([null, "b"])"},
                           {"v_y", arrow::int64(), "[20, 10]"}}));
}

TEST_F(JoinColumnsTest, NamesAMissingKey) {
  const JoinNode node{.left_keys = {"z"}, .right_keys = {"k"}};
  EXPECT_FAILS(KeyError, "There is no column 'z'",
               JoinColumns::Make(node, *left_->schema(), *right_->schema()));
}

}  // namespace
}  // namespace xshards::ops
