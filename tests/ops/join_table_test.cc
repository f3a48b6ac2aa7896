// SPDX-License-Identifier: Apache-2.0
#include "ops/join_table.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using Rows = std::vector<int64_t>;

class JoinTableTest : public OperatorTest {
 protected:
  static Rows ToRows(std::span<const int64_t> rows) { return {rows.begin(), rows.end()}; }
};

TEST_F(JoinTableTest, FindsTheRowsOfAKeyInOrder) {
  const auto rows = Batch({{"k", arrow::int64(), "[7, null, 7, 5]"}});
  const auto table = Get(JoinTable::Make(rows, {0}, context_.pool));
  EXPECT_EQ(table->num_keys(), 3);
  std::vector<uint32_t> ids;
  ASSERT_OK(table->Find(*Batch({{"k", arrow::float64(), "[7, 6, NaN]"}}), {0}, &ids));
  ASSERT_EQ(ids.size(), 3);
  EXPECT_EQ(ToRows(table->Matches(ids[0])), (Rows{0, 2}));
  EXPECT_EQ(ids[1], KeyTable::kNoKey);
  EXPECT_TRUE(table->Matches(ids[1]).empty());
  EXPECT_EQ(ToRows(table->Matches(ids[2])), (Rows{1}));
}

TEST_F(JoinTableTest, KnowsTheRowsThatNobodyAskedFor) {
  const auto rows = Batch({{"k", arrow::large_utf8(), R"(["a", "b", "a", "c"])"}});
  const auto table = Get(JoinTable::Make(rows, {0}, context_.pool));
  EXPECT_EQ(table->Unmarked({0, 1, 0}), (Rows{0, 2, 3}));
  EXPECT_EQ(table->Unmarked({1, 1, 1}), (Rows{}));
}

TEST_F(JoinTableTest, HoldsNothing) {
  const auto table =
      Get(JoinTable::Make(Batch({{"k", arrow::int64(), "[]"}}), {0}, context_.pool));
  std::vector<uint32_t> ids;
  ASSERT_OK(table->Find(*Batch({{"k", arrow::int64(), "[1]"}}), {0}, &ids));
  EXPECT_EQ(ids, (std::vector<uint32_t>{KeyTable::kNoKey}));
  EXPECT_EQ(table->Unmarked({}), (Rows{}));
}

}  // namespace
}  // namespace xshards::ops
