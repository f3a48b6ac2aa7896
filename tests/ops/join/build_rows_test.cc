// SPDX-License-Identifier: Apache-2.0
#include "ops/join/build_rows.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class NumberRangeTest : public OperatorTest {
 protected:
  NumberRange RangeOf(const char* numbers, size_t begin, size_t end) {
    const auto batch = Batch({{"k", arrow::int64(), numbers}});
    NumberRange range;
    range.Include(Get(JoinKeys::Make(*batch, {0}, JoinKeyKind::kWord, context_.pool)),
                  begin, end);
    return range;
  }
};

TEST_F(NumberRangeTest, SpansMinimumToMaximum) {
  const auto range = RangeOf("[100, 3, -7, null, 5, 200]", 1, 5);
  EXPECT_FALSE(range.is_empty());
  EXPECT_EQ(range.least, -7);
  EXPECT_EQ(range.greatest, 5);
  EXPECT_EQ(range.width(), 12);
}

TEST_F(NumberRangeTest, IsEmptyIfAllNumbersAreMissing) {
  auto range = RangeOf("[1, null, null]", 1, 3);
  EXPECT_TRUE(range.is_empty());
  range.Include(RangeOf("[4]", 0, 1));
  EXPECT_EQ(range.least, 4);
  EXPECT_EQ(range.greatest, 4);
}

TEST_F(NumberRangeTest, MaySpanAllIntegers) {
  EXPECT_EQ(RangeOf("[-9223372036854775808, 9223372036854775807]", 0, 2).width(),
            std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace xshards::ops
