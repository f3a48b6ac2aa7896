// SPDX-License-Identifier: Apache-2.0
#include "ops/join_table.h"

#include "ops/join_keys.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using Rows = std::vector<uint32_t>;

class JoinTableTest : public OperatorTest {
 protected:
  /// The rows of `held` that each row of `asked` finds.
  std::vector<Rows> Find(const std::shared_ptr<arrow::RecordBatch>& held,
                         const std::shared_ptr<arrow::RecordBatch>& asked) {
    const auto kind = ChooseJoinKeyKind(*held->schema(), {0}, *asked->schema(), {0});
    const auto table = Get(JoinTable::Make(held, {0}, kind, context_.pool));
    num_parts_ = table->num_parts();
    for (size_t part = 0; part < num_parts_; ++part) table->Fill(part);
    has_repeats_ = table->has_repeats();
    const auto keys = Get(JoinKeys::Make(*asked, {0}, kind, context_.pool));
    std::vector<uint32_t> first;
    table->Find(keys, &first);
    std::vector<Rows> found;
    for (uint32_t at : first) {
      found.emplace_back();
      for (; at != JoinTable::kNoRow; at = table->Next(at)) found.back().push_back(at);
    }
    return found;
  }

  size_t num_parts_ = 0;
  bool has_repeats_ = false;
};

TEST_F(JoinTableTest, FindsTheRowsOfAKeyInOrder) {
  const auto held = Batch({{"k", arrow::int64(), "[7, null, 7, 5]"}});
  const std::vector<Rows> expected = {{0, 2}, {}, {1}};
  EXPECT_EQ(Find(held, Batch({{"k", arrow::float64(), "[7, 6, NaN]"}})), expected);
  EXPECT_EQ(Find(held, Batch({{"k", arrow::int8(), "[7, 6, null]"}})), expected);
  EXPECT_EQ(Find(held, Batch({{"k", arrow::uint64(), "[7, 6, null]"}})), expected);
}

TEST_F(JoinTableTest, FindsTextHoweverItIsStored) {
  const auto held = Batch({{"k", arrow::large_utf8(), R"(["a", "é", null, "", "a"])"}});
  const std::vector<Rows> expected = {{3}, {0, 4}, {2}, {1}, {}};
  const char* const asked = R"(["", "a", null, "é", "z"])";
  for (const auto& type : {arrow::large_utf8(), arrow::utf8(), arrow::utf8_view(),
                           arrow::dictionary(arrow::int8(), arrow::large_utf8())}) {
    EXPECT_EQ(Find(held, Batch({{"k", type, asked}})), expected) << type->ToString();
  }
}

TEST_F(JoinTableTest, HoldsNothing) {
  const auto held = Batch({{"k", arrow::int64(), "[]"}});
  EXPECT_EQ(Find(held, Batch({{"k", arrow::int64(), "[1, null]"}})),
            (std::vector<Rows>{{}, {}}));
}

TEST_F(JoinTableTest, IsMadeInPartsIfItIsLarge) {
  std::vector<int64_t> numbers;
  std::vector<bool> valid;
  for (int64_t i = 0; i < 200'000; ++i) {
    numbers.push_back(i % 70'000 - 5);
    valid.push_back(i % 70'000 != 12);
  }
  const auto held = Batch({{"n", Column(numbers, valid)}});
  EXPECT_EQ(
      Find(held, Batch({{"n", arrow::int32(), "[-5, 69995, null, 7, 123]"}})),
      (std::vector<Rows>{
          {0, 70'000, 140'000}, {}, {12, 70'012, 140'012}, {}, {128, 70'128, 140'128}}));
  EXPECT_GT(num_parts_, 1);
}

TEST_F(JoinTableTest, FindsNumbersThatLieCloseAndThoseThatLieApart) {
  const auto asked =
      Batch({{"n", arrow::int64(),
              "[-9223372036854775808, -3, null, 0, 2, 9223372036854775807, 4]"}});
  const std::vector<Rows> expected = {{}, {1, 4}, {}, {}, {0}, {}, {3}};
  // The last row is of another number in both: near, or far away.
  const auto near = Batch({{"n", arrow::int64(), "[2, -3, 1, 4, -3, 3]"}});
  EXPECT_EQ(Find(near, asked), expected);
  const auto far =
      Batch({{"n", arrow::int64(), "[2, -3, 1, 4, -3, 4611686018427387904]"}});
  EXPECT_EQ(Find(far, asked), expected);
}

TEST_F(JoinTableTest, FindsNumbersAboveThoseThatHaveASign) {
  const char* const numbers =
      "[18446744073709551615, 9223372036854775808, 9223372036854775807, 0]";
  const auto batch = Batch({{"n", arrow::uint64(), numbers}});
  EXPECT_EQ(Find(batch, batch), (std::vector<Rows>{{0}, {1}, {2}, {3}}));
  const auto close =
      Batch({{"n", arrow::uint64(), "[9223372036854775808, 9223372036854775807]"}});
  EXPECT_EQ(Find(close, batch), (std::vector<Rows>{{}, {0}, {1}, {}}));
}

TEST_F(JoinTableTest, KnowsWhetherAKeyRepeats) {
  const auto repeats = [&](const std::shared_ptr<arrow::DataType>& type,
                           const char* json) {
    const auto held = Batch({{"k", type, json}});
    Find(held, held);
    return has_repeats_;
  };
  EXPECT_FALSE(repeats(arrow::int64(), "[1, 2, null]"));
  EXPECT_TRUE(repeats(arrow::int64(), "[1, 2, 1]"));
  EXPECT_FALSE(repeats(arrow::int64(), "[1, 2, 1000000]"));
  EXPECT_TRUE(repeats(arrow::int64(), "[1, 2, 1000000, 2]"));
  EXPECT_TRUE(repeats(arrow::int64(), "[null, 1, null, 2]"));
  EXPECT_FALSE(repeats(arrow::utf8(), R"(["a", "b"])"));
  EXPECT_TRUE(repeats(arrow::utf8(), R"(["a", "b", "a"])"));
}

}  // namespace
}  // namespace xshards::ops
