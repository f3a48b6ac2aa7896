// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/decoded_values.h"

#include "ops/kernels/gather.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class PlainValuesTest : public OperatorTest {};

TEST_F(PlainValuesTest, TurnNaNIntoNullAlsoInASlice) {
  for (const auto& type : {arrow::float32(), arrow::float64()}) {
    const auto values = Json(type, "[NaN, 1, null, NaN, 4]");
    ExpectArray(Get(PlainValues(values, context_.pool)),
                Json(type, "[null, 1, null, null, 4]"));
    ExpectArray(Get(PlainValues(values->Slice(1, 3), context_.pool)),
                Json(type, "[1, null, null]"));
    EXPECT_EQ(Get(PlainValues(Json(type, "[NaN]"), context_.pool))->null_count(), 1);
  }
}

TEST_F(PlainValuesTest, AreTheInputColumnIfNothingChanges) {
  const auto values = Json(arrow::float64(), "[1, null, -0.0]");
  EXPECT_EQ(Get(PlainValues(values, context_.pool)), values);
}

TEST_F(PlainValuesTest, DecodeDictionaries) {
  const auto type = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  ExpectArray(Get(PlainValues(Json(type, R"(["x", null, "y", "x"])"), context_.pool)),
              Json(arrow::large_utf8(), R"(["x", null, "y", "x"])"));
  EXPECT_EQ(*DecodedType(type), *arrow::large_utf8());
}

TEST_F(PlainValuesTest, GatherNullForNullRows) {
  const auto rows = Get(RowsOrNull({2, -1, 0, 0}, context_.pool));
  ExpectArray(Get(Gather(Json(arrow::utf8(), R"(["a", "b", "c"])"), rows, context_.pool)),
              Json(arrow::utf8(), R"(["c", null, "a", "a"])"));
}

}  // namespace
}  // namespace xshards::ops
