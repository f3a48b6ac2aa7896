// SPDX-License-Identifier: Apache-2.0
#include "ops/sort_order.h"

#include "tests/ops/operator_fixture.h"
#include "xshards/pandas_dtype.h"

namespace xshards::ops {
namespace {

class SortOrderTest : public OperatorTest {
 protected:
  void ExpectOrder(const std::shared_ptr<arrow::RecordBatch>& batch,
                   const std::vector<SortKey>& keys, bool nulls_first,
                   const std::string& json) {
    const auto columns = Get(SortColumns(*batch, keys, context_.pool));
    const auto order = Get(SortOrder(columns, keys, nulls_first, context_.pool));
    ExpectArray(order, Json(arrow::uint64(), json));
  }
};

TEST_F(SortOrderTest, IsStableAndPutsMissingLastOrFirst) {
  const auto batch = Batch({{"f", arrow::float64(), "[2, NaN, 1, null, 2]"}});
  ExpectOrder(batch, {{"f", true}}, false, "[2, 0, 4, 1, 3]");
  ExpectOrder(batch, {{"f", false}}, false, "[0, 4, 2, 1, 3]");
  ExpectOrder(batch, {{"f", true}}, true, "[1, 3, 2, 0, 4]");
}

TEST_F(SortOrderTest, GoesByOneKeyAfterTheOther) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 0, 1, 0]"},
                            {"b", arrow::large_utf8(), R"(["x", "y", "w", null])"}});
  ExpectOrder(batch, {{"a", true}, {"b", true}}, false, "[1, 3, 2, 0]");
  ExpectOrder(batch, {{"a", false}, {"b", false}}, false, "[0, 2, 1, 3]");
}

TEST_F(SortOrderTest, CategoriesGoByTheirOwnOrder) {
  auto field = Get(WithCategories(arrow::field("c", arrow::large_utf8()),
                                  Strings({"small", "big", "Huge"}), false));
  const auto values = Strings({"Huge", "", "big", "small"}, {true, false, true, true});
  const auto batch = arrow::RecordBatch::Make(arrow::schema({field}), 4, {values});
  ExpectOrder(batch, {{"c", true}}, false, "[3, 2, 0, 1]");
}

TEST_F(SortOrderTest, NamesAColumnThatHasNoOrder) {
  const auto batch = Batch({{"l", arrow::list(arrow::int8()), "[[1]]"}});
  const std::vector<SortKey> keys = {{"l", true}};
  const auto columns = Get(SortColumns(*batch, keys, context_.pool));
  const auto order = SortOrder(columns, keys, false, context_.pool);
  ASSERT_FALSE(order.ok());
  EXPECT_NE(order.status().message().find("Cannot sort by 'l' (list"), std::string::npos);
}

}  // namespace
}  // namespace xshards::ops
