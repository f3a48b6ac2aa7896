// SPDX-License-Identifier: Apache-2.0
#include "ops/gather.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using GatherTest = OperatorTest;

TEST_F(GatherTest, TakesRowsInTheirOrderAndAgain) {
  const auto values = Strings({"a", "é", ""}, {true, true, false});
  const auto rows = Get(RowsOrNull({2, 1, 1, 0}, context_.pool));
  EXPECT_EQ(rows->null_count(), 0);
  ExpectArray(Get(Gather(values, rows, context_.pool)),
              Strings({"", "é", "é", "a"}, {false, true, true, true}));
}

TEST_F(GatherTest, NegativeRowsGiveNulls) {
  const auto rows = Get(RowsOrNull({1, -1, 0}, context_.pool));
  ExpectArray(Get(Gather(Json(arrow::int64(), "[7, 8]"), rows, context_.pool)),
              Json(arrow::int64(), "[8, null, 7]"));
}

TEST_F(GatherTest, TakesWholeRowsAndNone) {
  const auto batch =
      Batch({{"a", arrow::int64(), "[1, 2]"}, {"b", arrow::boolean(), "[true, null]"}});
  const auto some = Get(Gather(batch, Json(arrow::int64(), "[1]"), context_.pool));
  ExpectBatch(some, batch->Slice(1));
  const auto none = Get(Gather(batch, Json(arrow::int64(), "[]"), context_.pool));
  EXPECT_EQ(none->num_rows(), 0);
  EXPECT_TRUE(none->schema()->Equals(*batch->schema()));
}

}  // namespace
}  // namespace xshards::ops
