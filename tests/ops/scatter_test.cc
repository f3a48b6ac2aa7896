// SPDX-License-Identifier: Apache-2.0
#include "ops/scatter.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using ScatterTest = OperatorTest;

TEST_F(ScatterTest, KeepsTheOrderOfTheRowsOfADestination) {
  const auto batch = Batch({{"a", arrow::int64(), "[0, 1, 2, 3, 4]"}});
  const auto pieces = Get(Scatter(batch, {2, 0, 2, 0, 2}, 4, context_.pool));
  ASSERT_EQ(pieces.size(), 4);
  ExpectBatch(pieces[0], Batch({{"a", arrow::int64(), "[1, 3]"}}));
  EXPECT_EQ(pieces[1], nullptr);
  ExpectBatch(pieces[2], Batch({{"a", arrow::int64(), "[0, 2, 4]"}}));
  EXPECT_EQ(pieces[3], nullptr);
}

TEST_F(ScatterTest, CopiesNothingForOneDestination) {
  const auto batch = Batch({{"a", arrow::int64(), "[5, 6]"}});
  const auto pieces = Get(Scatter(batch, {1, 1}, 2, context_.pool));
  EXPECT_EQ(pieces[0], nullptr);
  EXPECT_EQ(pieces[1], batch);
}

TEST_F(ScatterTest, GivesNothingOfNothing) {
  const auto batch = Batch({{"a", arrow::int64(), "[]"}});
  for (const auto& piece : Get(Scatter(batch, {}, 3, context_.pool))) {
    EXPECT_EQ(piece, nullptr);
  }
}

}  // namespace
}  // namespace xshards::ops
