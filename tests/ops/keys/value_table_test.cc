// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/value_table.h"

#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ops/keys/key_columns.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Values : public OperatorTest {
 protected:
  using Ids = std::vector<uint32_t>;

  Ids Insert(const std::shared_ptr<arrow::Array>& values) {
    Ids ids;
    new_rows_.clear();
    Check(table_.Insert(*values, &ids, &new_rows_, context_.pool));
    return ids;
  }
  Ids Find(const std::shared_ptr<arrow::Array>& values) {
    Ids ids;
    Check(table_.Find(*values, &ids, context_.pool));
    return ids;
  }

  ValueTable table_;
  std::vector<int64_t> new_rows_;  // of the last Insert
};

constexpr uint32_t kNone = ValueTable::kNoValue;

TEST_F(Values, AreNoneInANewTable) {
  EXPECT_EQ(Insert(Json(arrow::int64(), "[]")), Ids{});
  EXPECT_EQ(Find(Json(arrow::int64(), "[1]")), Ids{kNone});
  EXPECT_EQ(table_.size(), 0);
}

TEST_F(Values, OfAnyWidthAreEqual) {
  EXPECT_EQ(Insert(Json(arrow::int8(), "[3, -1, null, 3]")), (Ids{0, 1, 2, 0}));
  EXPECT_EQ(Find(Json(arrow::int64(), "[-1, 255, 3]")), (Ids{1, kNone, 0}));
  EXPECT_EQ(Find(Json(arrow::float64(), "[3, 3.5, NaN]")), (Ids{0, kNone, 2}));
  EXPECT_EQ(Insert(Json(arrow::uint64(), "[18446744073709551615, 3]")), (Ids{3, 0}));
  EXPECT_EQ(Find(Json(arrow::int64(), "[-1]")), (Ids{1}));
}

TEST_F(Values, OfBytesAreComparedWhole) {
  // Values of up to seven bytes and longer ones are stored differently.
  const auto texts = Strings({"", "a", std::string("a\0", 2), "1234567", "12345678",
                              "a long text, and one", "a long text, and two", "1234567"});
  EXPECT_EQ(Insert(texts), (Ids{0, 1, 2, 3, 4, 5, 6, 3}));
  EXPECT_EQ(Find(texts), (Ids{0, 1, 2, 3, 4, 5, 6, 3}));
  EXPECT_EQ(Find(Json(arrow::utf8_view(), R"(["a", "12345678", "b"])")),
            (Ids{1, 4, kNone}));
  // Neither are they equal to a number of the same bytes.
  EXPECT_EQ(Find(Json(arrow::int64(), "[0, 97]")), (Ids{kNone, kNone}));
}

TEST_F(Values, OfADictionaryAreThoseOfItsRows) {
  const auto type = arrow::dictionary(arrow::int16(), arrow::large_utf8());
  const auto encoded = Get(arrow::DictionaryArray::FromArrays(
      type, Json(arrow::int16(), "[2, 0, null, 2, 3]"),
      Json(arrow::large_utf8(), R"(["a", "never used", "b", null])")));
  EXPECT_EQ(Insert(encoded), (Ids{0, 1, 2, 0, 2}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Find(encoded->Slice(1)), (Ids{1, 2, 0, 2}));
  EXPECT_EQ(Find(Json(arrow::utf8(), R"(["b", "never used"])")), (Ids{0, kNone}));
  EXPECT_EQ(Insert(encoded->Slice(3)), (Ids{0, 2}));
  EXPECT_TRUE(new_rows_.empty());
}

TEST_F(Values, OfPairsAreFoundByBoth) {
  Ids ids;
  ASSERT_OK(table_.InsertPairs(Ids{0, 1, 0}, Ids{1, 0, 1}, &ids, &new_rows_));
  EXPECT_EQ(ids, (Ids{0, 1, 0}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{0, 1}));
  table_.FindPairs(Ids{1, 0, 0, kNone}, Ids{0, 0, 1, 1}, &ids);
  EXPECT_EQ(ids, (Ids{1, kNone, 0, kNone}));
}

// Patterns that a weak hash would put on one another.
TEST_F(Values, AgreeWithAMapWhileTheTableGrows) {
  std::mt19937_64 random(9);
  std::map<int64_t, uint32_t> oracle;
  for (int shift : {0, 8, 20, 33, 47}) {
    std::vector<int64_t> numbers(30000);
    Ids expected;
    for (auto& number : numbers) {
      number = static_cast<int64_t>(random() % 20000) << shift;
      const auto size = static_cast<uint32_t>(oracle.size());
      expected.push_back(oracle.try_emplace(number, size).first->second);
    }
    const auto column = Column(numbers);
    ASSERT_EQ(Insert(column), expected);
    ASSERT_EQ(Find(column), expected);
    ASSERT_EQ(Find(column->Slice(5, 7)),
              Ids(expected.begin() + 5, expected.begin() + 12));
  }
  EXPECT_EQ(table_.size(), oracle.size());
}

/// Integers and missing values, numbered in order of first appearance by a map.
template <typename T>
class NumberedIntegers {
 public:
  void Add(T value, bool is_missing = false) {
    values_.push_back(value);
    valid_.push_back(!is_missing);
    const auto next = static_cast<uint32_t>(numbers_.size());
    const auto [at, is_new] =
        numbers_.try_emplace({is_missing, is_missing ? T{0} : value}, next);
    ids_.push_back(at->second);
    if (is_new) new_rows_.push_back(std::ssize(ids_) - 1);
  }

  std::shared_ptr<arrow::Array> array() const { return Column<T>(values_, valid_); }
  const std::vector<uint32_t>& ids() const { return ids_; }
  const std::vector<int64_t>& new_rows() const { return new_rows_; }
  size_t num_values() const { return numbers_.size(); }

 private:
  std::vector<T> values_;
  std::vector<bool> valid_;
  std::map<std::pair<bool, T>, uint32_t> numbers_;
  std::vector<uint32_t> ids_;
  std::vector<int64_t> new_rows_;
};

template <typename T>
void ExpectNumbered(const NumberedIntegers<T>& expected, int64_t piece) {
  ValueTable table;
  const auto array = expected.array();
  std::vector<uint32_t> ids(static_cast<size_t>(array->length()));
  std::vector<int64_t> new_rows;
  for (int64_t begin = 0; begin < array->length(); begin += piece) {
    std::vector<int64_t> own;
    Check(table.Insert(*array->Slice(begin, piece), ids.data() + begin, &own,
                       arrow::default_memory_pool()));
    for (int64_t row : own) new_rows.push_back(begin + row);
  }
  EXPECT_EQ(ids, expected.ids());
  EXPECT_EQ(new_rows, expected.new_rows());
  EXPECT_EQ(table.size(), expected.num_values());
  std::vector<uint32_t> found;
  Check(table.Find(*array, &found, arrow::default_memory_pool()));
  EXPECT_EQ(found, expected.ids());
}

TEST_F(Values, OfASmallRangeAreNumberedLikeOthers) {
  std::mt19937_64 random(7);
  for (const int64_t least : {int64_t{0}, int64_t{-500}, int64_t{1} << 60,
                              std::numeric_limits<int64_t>::min()}) {
    NumberedIntegers<int64_t> values;
    for (int i = 0; i < 20000; ++i) {
      const auto offset = static_cast<int64_t>(random() % 1000);
      values.Add(least + offset, /*is_missing=*/random() % 50 == 0);
    }
    for (int64_t piece : {20000, 4096, 2500}) ExpectNumbered(values, piece);
  }
}

TEST_F(Values, OutsideTheFirstRangeAreNumbered) {
  std::mt19937_64 random(8);
  NumberedIntegers<int32_t> values;
  for (int i = 0; i < 4096; ++i) values.Add(static_cast<int32_t>(random() % 100));
  for (int i = 0; i < 20000; ++i) {
    values.Add(static_cast<int32_t>(random() % 40000) - 20000);
  }
  values.Add(std::numeric_limits<int32_t>::min());
  values.Add(0, /*is_missing=*/true);
  ExpectNumbered(values, 4096);
}

TEST_F(Values, ThatNeverRepeatAreNumbered) {
  // Enough that the positions of the first range are dropped.
  NumberedIntegers<uint32_t> values;
  for (uint32_t i = 0; i < 600'000; ++i) values.Add(i);
  for (uint32_t i = 0; i < 100; ++i) values.Add(i * 1000);
  ExpectNumbered(values, 32768);
}

TEST_F(Values, OfOtherTypesEqualThoseOfASmallRange) {
  NumberedIntegers<int16_t> values;
  for (int i = 0; i < 4096; ++i) values.Add(static_cast<int16_t>(i % 100 - 50));
  EXPECT_EQ(Insert(values.array()), values.ids());
  EXPECT_EQ(Insert(Json(arrow::float64(), "[-1, 0.5, 7]")), (Ids{49, 100, 57}));
  // -1 has the same bits.
  EXPECT_EQ(Insert(Json(arrow::uint64(), "[18446744073709551615, 7]")), (Ids{101, 57}));
  EXPECT_EQ(Insert(Json(arrow::int64(), "[-1, 49, 50, null, 50]")),
            (Ids{49, 99, 102, 103, 102}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{2, 3}));
}

}  // namespace
}  // namespace xshards::ops
