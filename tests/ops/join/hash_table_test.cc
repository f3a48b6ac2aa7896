// SPDX-License-Identifier: Apache-2.0
#include "ops/join/hash_table.h"

#include <limits>
#include <map>
#include <optional>
#include <random>

#include "ops/join/join_keys.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using Rows = std::vector<uint32_t>;

class JoinTableTest : public OperatorTest {
 protected:
  /// The rows of `held` that match each row of `asked`.
  std::vector<Rows> Find(const std::shared_ptr<arrow::RecordBatch>& held,
                         const std::shared_ptr<arrow::RecordBatch>& asked) {
    const auto kind = ChooseJoinKeyKind(*held->schema(), {0}, *asked->schema(), {0});
    const auto table = Get(JoinTable::Make(held, {0}, kind, context_.pool));
    while (const size_t num_tasks = Get(table->StartStep())) {
      for (size_t task = num_tasks; task-- > 0;) Check(table->RunTask(task));
    }
    num_parts_ = table->num_parts();
    has_repeats_ = table->has_repeats();
    const auto keys = Get(JoinKeys::Make(*asked, {0}, kind, context_.pool));
    ScratchVector<uint32_t> first;
    table->Find(keys, &first);
    std::vector<Rows> found;
    for (uint32_t at : first) {
      found.emplace_back();
      for (; at != JoinTable::kNoRow; at = table->Next(at)) found.back().push_back(at);
    }
    return found;
  }

  /// The expected result of Find(), by a map; missing keys are equal.
  static std::vector<Rows> Expect(const arrow::Array& held, const arrow::Array& asked) {
    const auto key_of = [](const arrow::Array& array, int64_t row) {
      const auto& numbers = static_cast<const arrow::Int64Array&>(array);
      return numbers.IsNull(row) ? std::optional<int64_t>() : numbers.Value(row);
    };
    std::map<std::optional<int64_t>, Rows> rows;
    for (int64_t i = 0; i < held.length(); ++i) {
      rows[key_of(held, i)].push_back(static_cast<uint32_t>(i));
    }
    std::vector<Rows> expected;
    for (int64_t i = 0; i < asked.length(); ++i) {
      expected.push_back(rows[key_of(asked, i)]);
    }
    return expected;
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

TEST_F(JoinTableTest, FindsNothingInAnEmptyTable) {
  const auto held = Batch({{"k", arrow::int64(), "[]"}});
  EXPECT_EQ(Find(held, Batch({{"k", arrow::int64(), "[1, null]"}})),
            (std::vector<Rows>{{}, {}}));
}

TEST_F(JoinTableTest, IsBuiltInPartsIfLarge) {
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

TEST_F(JoinTableTest, AgreesWithAMapForManyParts) {
  constexpr size_t kRows = 300'000;
  std::mt19937 random(7);
  // Dense and sparse integers; with many repeats and few.
  for (int64_t factor : {1, 1'000'003}) {
    for (int64_t range : {50'000, 1'000'000}) {
      std::uniform_int_distribution<int64_t> draw(-range, range);
      std::vector<int64_t> numbers;
      std::vector<bool> valid;
      for (size_t i = 0; i < kRows; ++i) {
        numbers.push_back(draw(random) * factor);
        valid.push_back(i % 1000 != 17);
      }
      const auto held = Column(numbers, valid);
      std::vector<int64_t> asked_numbers = {std::numeric_limits<int64_t>::min(),
                                            std::numeric_limits<int64_t>::max(),
                                            -range * factor - 1, range * factor + 1, 0};
      for (int64_t i = -range - 300; i < range + 300; i += 7) {
        asked_numbers.push_back(i * factor);
      }
      std::vector<bool> asked_valid(asked_numbers.size(), true);
      asked_valid[4] = false;
      const auto asked = Column(asked_numbers, asked_valid);
      EXPECT_EQ(Find(Batch({{"n", held}}), Batch({{"n", asked}})), Expect(*held, *asked))
          << factor << " " << range;
      EXPECT_GT(num_parts_, 1);
      EXPECT_TRUE(has_repeats_);
    }
  }
}

TEST_F(JoinTableTest, FindsKeysIfSomePartsAreEmpty) {
  // At both ends of a range, so that the parts in between have no rows.
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < 100'000; ++i) {
    numbers.push_back(i % 2 == 0 ? -400'000 + i : 300'000 - i);
  }
  const auto held = Column(numbers);
  const auto asked = Column(std::vector<int64_t>{-400'000, -400'001, 0, 299'999, 300'000,
                                                 200'001, -300'002, -300'000});
  EXPECT_EQ(Find(Batch({{"n", held}}), Batch({{"n", asked}})), Expect(*held, *asked));
  EXPECT_GT(num_parts_, 1);
  EXPECT_FALSE(has_repeats_);
}

TEST_F(JoinTableTest, FindsTheOnlyKeyThatRepeats) {
  for (int64_t factor : {1, 1'000'003}) {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < 200'000; ++i) {
      numbers.push_back(i * 7919 % 200'000 * factor);
    }
    numbers.push_back(numbers[0]);
    const auto held = Column(numbers);
    const auto found = Find(Batch({{"n", held}}), Batch({{"n", held}}));
    EXPECT_EQ(found, Expect(*held, *held)) << factor;
    EXPECT_EQ(found[0], (Rows{0, 200'000}));
    EXPECT_TRUE(has_repeats_);
  }
}

TEST_F(JoinTableTest, FindsMissingKeysIfAllKeysAreMissing) {
  const auto held = Batch({{"n", arrow::int64(), "[null, null]"}});
  const auto asked = Batch({{"n", arrow::int64(), "[1, null]"}});
  EXPECT_EQ(Find(held, asked), (std::vector<Rows>{{}, {0, 1}}));
}

TEST_F(JoinTableTest, FindsDenseAndSparseIntegers) {
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

TEST_F(JoinTableTest, FindsUnsignedKeysAboveTheInt64Range) {
  const char* const numbers =
      "[18446744073709551615, 9223372036854775808, 9223372036854775807, 0]";
  const auto batch = Batch({{"n", arrow::uint64(), numbers}});
  EXPECT_EQ(Find(batch, batch), (std::vector<Rows>{{0}, {1}, {2}, {3}}));
  const auto close =
      Batch({{"n", arrow::uint64(), "[9223372036854775808, 9223372036854775807]"}});
  EXPECT_EQ(Find(close, batch), (std::vector<Rows>{{}, {0}, {1}, {}}));
}

TEST_F(JoinTableTest, ReportsWhetherAKeyRepeats) {
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
