// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ops/sort/comparator.h"
#include "tests/ops/operator_fixture.h"
#include "xshards/types/pandas_dtype.h"

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

TEST_F(SortOrderTest, ComparesKeysInOrder) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 0, 1, 0]"},
                            {"b", arrow::large_utf8(), R"(["x", "y", "w", null])"}});
  ExpectOrder(batch, {{"a", true}, {"b", true}}, false, "[1, 3, 2, 0]");
  ExpectOrder(batch, {{"a", false}, {"b", false}}, false, "[0, 2, 1, 3]");
}

// Every type and width of key, so that words are packed in every way, beside a plain
// comparison of the values.
TEST_F(SortOrderTest, AgreesWithComparingValues) {
  std::mt19937_64 random(31);
  constexpr int64_t kRows = 3000;
  const auto valid = [&](uint64_t missing_in) {
    std::vector<bool> bits;
    for (int64_t i = 0; i < kRows; ++i) {
      bits.push_back(missing_in == 0 || random() % missing_in != 0);
    }
    return bits;
  };
  std::vector<int64_t> wide;
  std::vector<uint64_t> huge;
  std::vector<int8_t> few;
  std::vector<double> reals;
  std::vector<std::string> prefixed;
  std::vector<std::string> long_texts;
  for (int64_t i = 0; i < kRows; ++i) {
    wide.push_back(static_cast<int64_t>(random()));
    huge.push_back(random() % 5 == 0 ? ~uint64_t{0} : random() % 7);
    few.push_back(static_cast<int8_t>(random() % 3));
    reals.push_back(static_cast<double>(static_cast<int64_t>(random() % 41) - 20) / 8);
    if (random() % 9 == 0) reals.back() = random() % 2 == 0 ? -0.0 : INFINITY;
    prefixed.push_back("common " + std::string(random() % 4, '\0') +
                       std::string(random() % 4, static_cast<char>(random() % 256)));
    long_texts.push_back("x" + std::string(random() % 12, 'y') +
                         std::to_string(random() % 9));
  }
  const auto decimals = [&](const std::shared_ptr<arrow::DataType>& type, bool large) {
    arrow::Decimal128Builder builder(type);
    for (int64_t i = 0; i < kRows; ++i) {
      arrow::Decimal128 value(static_cast<int64_t>(random() % 1000) - 500);
      if (large && random() % 2 == 0)
        value *= arrow::Decimal128("1000000000000000000000");
      Check(random() % 8 == 0 ? builder.AppendNull() : builder.Append(value));
    }
    return Get(builder.Finish());
  };
  const auto batch = Batch({{"wide", Column(wide, valid(5))},
                            {"huge", Column(huge, valid(0))},
                            {"few", Column(few, valid(4))},
                            {"reals", Column(reals, valid(6))},
                            {"prefixed", Strings(prefixed, valid(7))},
                            {"long", Strings(long_texts, valid(0))},
                            {"small_decimal", decimals(arrow::decimal128(10, 2), false)},
                            {"decimal", decimals(arrow::decimal128(38, 2), true)},
                            {"none", Get(arrow::MakeArrayOfNull(arrow::null(), kRows))}});
  std::vector<std::string> names = batch->schema()->field_names();
  for (int round = 0; round < 60; ++round) {
    std::shuffle(names.begin(), names.end(), random);
    std::vector<SortKey> keys;
    for (size_t i = 0; i < 1 + random() % 3; ++i)
      keys.push_back({names[i], random() % 2 == 0});
    const bool nulls_first = random() % 2 == 0;
    const auto columns = Get(SortColumns(*batch, keys, context_.pool));
    const auto comparator =
        Get(SortComparator::Make(columns, columns, keys, nulls_first));
    std::vector<uint64_t> expected(kRows);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](uint64_t a, uint64_t b) {
      return comparator.Compare(static_cast<int64_t>(a), static_cast<int64_t>(b)) < 0;
    });
    ExpectArray(Get(SortOrder(columns, keys, nulls_first, context_.pool)),
                Column(expected));
  }
}

TEST_F(SortOrderTest, CategoriesSortByTheirCodes) {
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
