// SPDX-License-Identifier: Apache-2.0
#include "ops/join/perfect_hash_rows.h"

#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class OrderedRowsTest : public OperatorTest {
 protected:
  /// Build rows keyed by their first column, with the others as values; nullptr if they
  /// cannot be ordered.
  std::shared_ptr<OrderedRows> Order(const arrow::RecordBatchVector& batches) {
    std::vector<int> taken(static_cast<size_t>(batches[0]->num_columns()) - 1);
    std::iota(taken.begin(), taken.end(), 1);
    auto rows = OrderedRows::Make(batches, 0, taken, context_.pool);
    if (rows == nullptr) return nullptr;
    while (const size_t num_tasks = Get(rows->StartStep())) {
      for (size_t task = num_tasks; task-- > 0;) Check(rows->RunTask(task));
    }
    return rows->is_made() ? rows : nullptr;
  }

  std::vector<uint32_t> Find(const OrderedRows& rows,
                             const std::shared_ptr<arrow::Array>& asked) {
    const auto keys = Get(
        JoinKeys::Make(*Batch({{"k", asked}}), {0}, JoinKeyKind::kWord, context_.pool));
    ScratchVector<uint32_t> first;
    rows.Find(keys, &first);
    return {first.begin(), first.end()};
  }

  static int64_t Value(const OrderedRows& rows, uint32_t row) {
    return static_cast<const arrow::Int64Array&>(*rows.rows()->column(1)).Value(row);
  }
};

std::vector<int64_t> Shuffled(int64_t least, int64_t count, int64_t step) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(least + i * step);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(7));
  return numbers;
}

TEST_F(OrderedRowsTest, FindsEachRowByItsNumber) {
  // All numbers of a range, and every other one; in one part, and in several.
  for (const int64_t step : {1, 2}) {
    for (const int64_t count : {1, 63, 64, 65, 1000, 200'000}) {
      const auto numbers = Shuffled(-50, count, step);
      std::vector<int64_t> values;
      std::map<int64_t, int64_t> value_of;
      for (const int64_t number : numbers) {
        values.push_back(number * 3);
        value_of[number] = number * 3;
      }
      const auto batch = Batch({{"k", Column(numbers)}, {"v", Column(values)}});
      for (const int64_t cut : {count, count / 3 + 1}) {
        const auto rows = Order(Cut(batch, cut));
        ASSERT_NE(rows, nullptr);
        EXPECT_FALSE(rows->has_repeats());
        std::vector<int64_t> asked = {std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max(), -51};
        for (int64_t i = -50; i <= -50 + count * step; ++i) asked.push_back(i);
        const auto found = Find(*rows, Column(asked));
        for (size_t i = 0; i < asked.size(); ++i) {
          const auto expected = value_of.find(asked[i]);
          ASSERT_EQ(found[i] != HeldRows::kNoRow, expected != value_of.end()) << asked[i];
          if (found[i] == HeldRows::kNoRow) continue;
          ASSERT_EQ(Value(*rows, found[i]), expected->second) << asked[i];
          ASSERT_EQ(rows->Next(found[i]), HeldRows::kNoRow);
        }
      }
    }
  }
}

TEST_F(OrderedRowsTest, MovesNumbersOfEveryWidth) {
  const auto rows =
      Order({Batch({{"k", arrow::int32(), "[12, 10, 11]"},
                    {"a", arrow::int8(), "[-1, 2, 3]"},
                    {"b", arrow::uint16(), "[65535, 5, 6]"},
                    {"c", arrow::float32(), "[1.5, NaN, 2.5]"},
                    {"d", arrow::timestamp(arrow::TimeUnit::NANO), "[7, 8, 9]"}})});
  ASSERT_NE(rows, nullptr);
  const auto& made = *rows->rows();
  ExpectArray(made.column(1), Json(arrow::int8(), "[2, 3, -1]"));
  ExpectArray(made.column(2), Json(arrow::uint16(), "[5, 6, 65535]"));
  ExpectArray(made.column(3), Json(arrow::float32(), "[NaN, 2.5, 1.5]"));
  ExpectArray(made.column(4), Json(arrow::timestamp(arrow::TimeUnit::NANO), "[8, 9, 7]"));
  EXPECT_EQ(made.column(0)->type_id(), arrow::Type::NA);  // not taken
  EXPECT_EQ(made.num_rows(), 3);
}

TEST_F(OrderedRowsTest, RespectsOffsetsOfSlices) {
  const auto batch = Batch({{"k", arrow::int64(), "[9, 9, 2, 1, 9]"},
                            {"v", arrow::int64(), "[0, 0, 20, 10, 0]"}});
  const auto rows = Order({batch->Slice(2, 2)});
  ASSERT_NE(rows, nullptr);
  ExpectArray(rows->rows()->column(1), Json(arrow::int64(), "[10, 20]"));
}

TEST_F(OrderedRowsTest, KeepsNulls) {
  // In some batches only, and at the positions of all bits of a word.
  std::vector<int64_t> numbers = Shuffled(5, 1000, 1);
  std::vector<bool> there;
  for (const int64_t number : numbers) there.push_back(number % 3 != 0 || number < 40);
  const auto batch = Batch({{"k", Column(numbers)}, {"v", Column(numbers, there)}});
  const auto rows =
      Order({batch->Slice(0, 10), batch->Slice(10, 333), batch->Slice(343)});
  ASSERT_NE(rows, nullptr);
  const arrow::Array& values = *rows->rows()->column(1);
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t number = i + 5;
    ASSERT_EQ(values.IsValid(i), number % 3 != 0 || number < 40) << number;
    if (values.IsNull(i)) continue;
    ASSERT_EQ(Value(*rows, static_cast<uint32_t>(i)), number);
  }
}

TEST_F(OrderedRowsTest, FindsNoMatchForAMissingKey) {
  const auto rows = Order({Batch({{"k", arrow::int64(), "[0, 1]"}})});
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(Find(*rows, Json(arrow::int64(), "[null, 1, null]")),
            (std::vector<uint32_t>{HeldRows::kNoRow, 1, HeldRows::kNoRow}));
}

TEST_F(OrderedRowsTest, FindsARepeatIfTheRangeEqualsTheRowCount) {
  auto numbers = Shuffled(0, 1000, 1);
  std::replace(numbers.begin(), numbers.end(), 500, 501);
  const auto rows = Order({Batch({{"k", Column(numbers)}, {"v", Column(numbers)}})});
  ASSERT_NE(rows, nullptr);
  EXPECT_TRUE(rows->has_repeats());
  const auto found = Find(*rows, Json(arrow::int64(), "[499, 500, 501]"));
  EXPECT_EQ(Value(*rows, found[0]), 499);
  EXPECT_EQ(found[1], HeldRows::kNoRow);
  EXPECT_EQ(Value(*rows, found[2]), 501);
  EXPECT_EQ(Value(*rows, rows->Next(found[2])), 501);
}

TEST_F(OrderedRowsTest, KeepsRowsOfAKeyTogetherAndInOrder) {
  std::mt19937 random(3);
  // More numbers than rows and fewer; one that most rows have; values that are missing.
  for (const int64_t range : {1, 2, 90, 3000, 150'000, 350'000}) {
    for (const int64_t count : {1, 2, 65, 1000, 200'000}) {
      if (range >= 2 * count) continue;
      std::vector<int64_t> numbers;
      std::vector<int64_t> values;
      std::vector<bool> there;
      std::map<int64_t, std::vector<std::optional<int64_t>>> values_of;
      for (int64_t i = 0; i < count; ++i) {
        const bool is_usual = random() % 3 == 0;
        numbers.push_back(is_usual ? -7 : static_cast<int64_t>(random()) % range - 7);
        values.push_back(i);
        there.push_back(random() % 4 != 0);
        values_of[numbers.back()].push_back(there.back() ? std::optional(i)
                                                         : std::nullopt);
      }
      const auto batch = Batch({{"k", Column(numbers)}, {"v", Column(values, there)}});
      const auto rows = Order(Cut(batch, count / 3 + 1));
      if (rows == nullptr) continue;  // the greatest is too far away, by chance
      EXPECT_EQ(rows->has_repeats(), static_cast<int64_t>(values_of.size()) < count);
      std::vector<int64_t> asked;
      for (int64_t i = -9; i < range; ++i) asked.push_back(i);
      const auto found = Find(*rows, Column(asked));
      for (size_t i = 0; i < asked.size(); ++i) {
        std::vector<std::optional<int64_t>> held;
        for (uint32_t at = found[i]; at != HeldRows::kNoRow; at = rows->Next(at)) {
          const bool is_there = rows->rows()->column(1)->IsValid(at);
          held.push_back(is_there ? std::optional(Value(*rows, at)) : std::nullopt);
        }
        ASSERT_EQ(held, values_of[asked[i]]) << asked[i];
      }
    }
  }
}

TEST_F(OrderedRowsTest, OrdersMoreRowsThanFitTheCaches) {
  // Keys that occur once, twice, and in most rows: more in one part than are combined in
  // cache.
  constexpr int64_t kRows = (int64_t{5} << 20) / 2;
  const auto once = Shuffled(0, kRows, 1);
  for (const int64_t repeats : {int64_t{1}, int64_t{2}, kRows}) {
    std::vector<int64_t> numbers = once;
    for (int64_t& number : numbers) {
      number =
          repeats < kRows ? number / repeats : std::max<int64_t>(0, number - kRows / 2);
    }
    const auto batch = Batch({{"k", Column(numbers)}, {"v", Column(once)}});
    const auto rows = Order(Cut(batch, kRows / 3));
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(rows->has_repeats(), repeats > 1);
    const auto found = Find(*rows, Column(numbers));
    // The last row found for each key: its rows are in order.
    std::vector<uint32_t> last(static_cast<size_t>(kRows), HeldRows::kNoRow);
    for (size_t i = 0; i < numbers.size(); ++i) {
      uint32_t& at = last[static_cast<size_t>(numbers[i])];
      at = at == HeldRows::kNoRow ? found[i] : rows->Next(at);
      ASSERT_NE(at, HeldRows::kNoRow) << i;
      ASSERT_EQ(Value(*rows, at), once[i]) << i;
    }
  }
}

TEST_F(OrderedRowsTest, RejectsOtherKeysAndValues) {
  const auto order = [&](const std::shared_ptr<arrow::DataType>& type, const char* keys,
                         const char* values) {
    return Order({Batch({{"k", arrow::int64(), keys}, {"v", type, values}})});
  };
  EXPECT_NE(order(arrow::int64(), "[1, 2, 5]", "[1, 2, 3]"), nullptr);
  // Keys that are missing or not dense.
  EXPECT_EQ(order(arrow::int64(), "[1, 2, null]", "[1, 2, 3]"), nullptr);
  EXPECT_EQ(order(arrow::int64(), "[1, 2, 9]", "[1, 2, 3]"), nullptr);
  EXPECT_EQ(order(arrow::int64(), "[-9223372036854775808, 9223372036854775807, 0]",
                  "[1, 2, 3]"),
            nullptr);
  EXPECT_EQ(order(arrow::int64(), "[null]", "[1]"), nullptr);
  // Values that are not plain numbers.
  EXPECT_EQ(order(arrow::large_utf8(), "[1, 2]", R"(["a", "b"])"), nullptr);
  EXPECT_EQ(order(arrow::boolean(), "[1, 2]", "[true, false]"), nullptr);
  EXPECT_EQ(order(arrow::int64(), "[]", "[]"), nullptr);
}

}  // namespace
}  // namespace xshards::ops
