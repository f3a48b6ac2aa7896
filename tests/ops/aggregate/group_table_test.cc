// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/group_table.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Groups : public OperatorTest {
 protected:
  static GroupedColumn Sum(int value) {
    GroupedColumn column;
    column.accumulator = {.function = "sum",
                          .input_type = arrow::int64(),
                          .output_type = arrow::int64(),
                          .categories = nullptr,
                          .pool = arrow::default_memory_pool()};
    column.value = value;
    return column;
  }
};

const auto kKeys = R"(["b", "a", "b", null, "a"])";

TEST_F(Groups, ComeInOrderOfFirstAppearance) {
  auto table = Get(GroupTable::Make({0}, {Sum(1)}, /*by_last=*/false, context_.pool));
  const auto batch = Batch(
      {{"k", arrow::large_utf8(), kKeys}, {"v", arrow::int64(), "[1, 2, 4, 8, 16]"}});
  ASSERT_OK(table->Consume(*batch->Slice(0, 2)));
  ASSERT_OK(table->Consume(*batch->Slice(0, 0)));
  ASSERT_OK(table->Consume(*batch->Slice(2)));
  EXPECT_EQ(table->num_groups(), 3);
  EXPECT_GT(table->num_bytes(), 0);
  const auto columns = Get(table->Finish());
  ExpectArray(columns.at(0), Json(arrow::large_utf8(), R"(["b", "a", null])"));
  ExpectArray(columns.at(1), Json(arrow::int64(), "[5, 18, 8]"));
}

TEST_F(Groups, ComeInOrderOfLastAppearance) {
  auto table = Get(GroupTable::Make({0}, {Sum(1)}, /*by_last=*/true, context_.pool));
  const auto batch = Batch(
      {{"k", arrow::large_utf8(), kKeys}, {"v", arrow::int64(), "[1, 2, 4, 8, 16]"}});
  ASSERT_OK(table->Consume(*batch->Slice(0, 3)));
  ASSERT_OK(table->Consume(*batch->Slice(3)));
  const auto columns = Get(table->Finish());
  ExpectArray(columns.at(0), Json(arrow::large_utf8(), R"(["b", null, "a"])"));
  ExpectArray(columns.at(1), Json(arrow::int64(), "[5, 8, 18]"));
}

TEST_F(Groups, ExistingGroupsReceiveTheirRows) {
  auto table = Get(GroupTable::Make({0}, {Sum(1)}, /*by_last=*/false, context_.pool));
  const auto batch = Batch(
      {{"k", arrow::large_utf8(), kKeys}, {"v", arrow::int64(), "[1, 2, 4, 8, 16]"}});
  ASSERT_OK(table->Consume(*batch->Slice(0, 1)));
  EXPECT_EQ(Get(table->ConsumeKnown(batch)), (std::vector<int64_t>{1, 3, 4}));
  EXPECT_TRUE(Get(table->ConsumeKnown(batch->Slice(2, 1))).empty());
  const auto columns = Get(table->Finish());
  ExpectArray(columns.at(0), Json(arrow::large_utf8(), R"(["b"])"));
  ExpectArray(columns.at(1), Json(arrow::int64(), "[10]"));
}

TEST_F(Groups, OneGroupPerRowOnRequest) {
  auto sum = Sum(1);
  sum.accumulator.gives_states = true;
  auto table = Get(GroupTable::Make({0}, {sum}, /*by_last=*/false, context_.pool));
  const auto batch = Batch(
      {{"k", arrow::large_utf8(), kKeys}, {"v", arrow::int64(), "[1, 2, 4, null, 16]"}});
  for (int64_t begin : {0, 2}) {
    const auto rows = batch->Slice(begin);
    const auto columns = Get(table->EachRow(*rows));
    ExpectArray(columns.at(0), rows->column(0));
    ExpectArray(columns.at(1), Json(arrow::int64(), "[1, 2, 4, 0, 16]")->Slice(begin));
  }
}

TEST_F(Groups, NoKeysGiveOneGroupEvenWithoutRows) {
  auto table = Get(GroupTable::Make({}, {Sum(0)}, /*by_last=*/false, context_.pool));
  EXPECT_EQ(table->num_groups(), 1);
  const auto columns = Get(table->Finish());
  ExpectArray(columns.at(0), Json(arrow::int64(), "[0]"));
}

}  // namespace
}  // namespace xshards::ops
