// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/row_encoder.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class KeyEncoderTest : public OperatorTest {
 protected:
  EncodedKeys Encode(const arrow::ArrayVector& columns) {
    return Get(EncodeKeys(columns, columns.at(0)->length(), context_.pool));
  }
};

TEST_F(KeyEncoderTest, EqualValuesHaveEqualBytesInAnyType) {
  const auto integers = Encode({Json(arrow::int8(), "[0, 3, null]")});
  const auto floats = Encode({Json(arrow::float64(), "[-0.0, 3, NaN]")});
  for (int64_t row = 0; row < 3; ++row) EXPECT_EQ(integers[row], floats[row]);
  EXPECT_NE(integers[0], integers[1]);
  EXPECT_NE(integers[0], integers[2]);
}

TEST_F(KeyEncoderTest, UnsignedAboveInt64IsNotNegative) {
  const auto large = Encode({Json(arrow::uint64(), "[18446744073709551615]")});
  const auto negative = Encode({Json(arrow::int64(), "[-1]")});
  EXPECT_NE(large[0], negative[0]);
}

TEST_F(KeyEncoderTest, AnInstantIsEqualInAnyUnitAndZone) {
  const auto seconds =
      Encode({Json(arrow::timestamp(arrow::TimeUnit::SECOND, "UTC"), "[5]")});
  const auto nanos = Encode(
      {Json(arrow::timestamp(arrow::TimeUnit::NANO, "Asia/Tokyo"), "[5000000000]")});
  EXPECT_EQ(seconds[0], nanos[0]);
}

TEST_F(KeyEncoderTest, ColumnsAreNotConcatenatedAmbiguously) {
  const auto one = Encode({Strings({"ab", "a"}), Strings({"c", "bc"})});
  EXPECT_NE(one[0], one[1]);
}

TEST_F(KeyEncoderTest, NoColumnsGiveEmptyKeys) {
  const auto keys = Get(EncodeKeys({}, 2, context_.pool));
  EXPECT_EQ(keys.num_rows(), 2);
  EXPECT_TRUE(keys[1].empty());
}

}  // namespace
}  // namespace xshards::ops
