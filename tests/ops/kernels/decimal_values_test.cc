// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/decimal_values.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class DecimalValues : public OperatorTest {};

TEST_F(DecimalValues, AreTheNearestDoubles) {
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128(3), 1)), 0.3);
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128(-3), 1)), -0.3);
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128(0), 5)), 0.0);
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128(7), -2)), 700.0);
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128(1), 30)), 1e-30);
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128("12345678901234567890123"), 3)),
            12345678901234567890.123);
  EXPECT_EQ(Get(ToDouble(arrow::Decimal128((int64_t{1} << 53) + 1), 0)),
            9007199254740992.0);
}

TEST_F(DecimalValues, KeepNullsInTheirPlace) {
  const auto decimals =
      Json(arrow::decimal128(4, 2), R"(["9.99", "0.30", null, "-1.25"])");
  ExpectArray(Get(DecimalsToDoubles(decimals->Slice(1), context_.pool)),
              Json(arrow::float64(), "[0.3, null, -1.25]"));
}

}  // namespace
}  // namespace xshards::ops
