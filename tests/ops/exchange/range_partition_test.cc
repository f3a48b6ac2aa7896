// SPDX-License-Identifier: Apache-2.0
#include "ops/exchange/range_partition.h"

#include "tests/ops/operator_fixture.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::ops {
namespace {

using Destinations = std::vector<int32_t>;

class RangePartitionTest : public OperatorTest {
 protected:
  Destinations Of(const std::shared_ptr<arrow::RecordBatch>& batch,
                  const std::vector<SortKey>& keys, bool nulls_first,
                  const std::shared_ptr<arrow::RecordBatch>& boundaries) {
    return Get(RangeDestinations(*batch, keys, nulls_first, *boundaries, context_.pool));
  }
};

TEST_F(RangePartitionTest, CountsTheBoundariesAtOrBeforeARow) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 5, 6, 9, null]"}});
  const auto limits = Batch({{"a", arrow::int64(), "[5, 9]"}});
  EXPECT_EQ(Of(batch, {{"a", true}}, false, limits), (Destinations{0, 1, 1, 2, 2}));
  EXPECT_EQ(Of(batch, {{"a", true}}, true, limits), (Destinations{0, 1, 1, 2, 0}));
  EXPECT_EQ(Of(batch, {{"a", false}}, false, limits), (Destinations{2, 2, 1, 1, 2}));
}

TEST_F(RangePartitionTest, ComparesTheSecondKeyIfTheFirstIsEqual) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 1, 2]"},
                            {"b", arrow::large_utf8(), R"(["x", "z", "a"])"}});
  const auto limits =
      Batch({{"a", arrow::int64(), "[1]"}, {"b", arrow::large_utf8(), R"(["y"])"}});
  EXPECT_EQ(Of(batch, {{"a", true}, {"b", true}}, false, limits),
            (Destinations{0, 1, 1}));
}

TEST_F(RangePartitionTest, ComparesCategoriesWithBoundariesByCode) {
  auto field = Get(WithCategories(arrow::field("c", arrow::large_utf8()),
                                  Strings({"small", "big", "Huge"}), true));
  const auto values = Strings({"Huge", "big", "small", ""}, {true, true, true, false});
  const auto batch = arrow::RecordBatch::Make(arrow::schema({field}), 4, {values});
  const auto limits = Batch({{"c", arrow::int32(), "[1]"}});
  EXPECT_EQ(Of(batch, {{"c", true}}, false, limits), (Destinations{1, 1, 0, 1}));
}

TEST_F(RangePartitionTest, NeedsOneBoundaryColumnPerKey) {
  const auto batch = Batch({{"a", arrow::int64(), "[1]"}});
  EXPECT_FAILS(Invalid, "one column for each of 2 sort keys",
               RangeDestinations(*batch, {{"a", true}, {"a", true}}, false, *batch,
                                 context_.pool));
}

}  // namespace
}  // namespace xshards::ops
