// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/key_table.h"

#include <map>
#include <random>
#include <string>

#include "ops/keys/hash.h"
#include "ops/keys/key_columns.h"
#include "ops/keys/row_encoder.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Keys : public OperatorTest {
 protected:
  using Ids = std::vector<uint32_t>;

  Ids Insert(KeyTable& table, const arrow::ArrayVector& columns) {
    Ids ids;
    new_rows_.clear();
    Check(
        table.Insert(columns, columns.at(0)->length(), &ids, &new_rows_, context_.pool));
    return ids;
  }
  Ids Find(const KeyTable& table, const arrow::ArrayVector& columns) {
    Ids ids;
    Check(table.Find(columns, columns.at(0)->length(), &ids, context_.pool));
    return ids;
  }

  EncodedKeys Encode(const arrow::ArrayVector& columns) {
    arrow::ArrayVector keys;
    for (const auto& column : columns)
      keys.push_back(Get(KeyColumn(column, context_.pool)));
    return Get(EncodeKeys(keys, columns.at(0)->length(), context_.pool));
  }

  std::vector<int64_t> new_rows_;  // of the last Insert
};

TEST_F(Keys, AreNumberedInOrderOfFirstAppearance) {
  KeyTable table;
  EXPECT_EQ(Insert(table, {Json(arrow::large_utf8(), R"(["b", "a", "b", null])")}),
            (Ids{0, 1, 0, 2}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(Insert(table, {Json(arrow::utf8(), R"([null, "c", "a"])")}), (Ids{2, 3, 1}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{1}));
  EXPECT_EQ(Find(table, {Json(arrow::large_utf8(), R"(["", "c", "b"])")}),
            (Ids{KeyTable::kNoKey, 3, 0}));
  EXPECT_EQ(table.size(), 4);
  EXPECT_GT(table.num_bytes(), 0);
}

TEST_F(Keys, OfSeveralColumnsArePairsOfTheirValues) {
  KeyTable table;
  const auto texts = Json(arrow::utf8(), R"(["a", "a", null, "b", null])");
  const auto numbers = Json(arrow::int8(), "[1, null, 1, 1, 1]");
  const auto flags = Json(arrow::boolean(), "[true, true, false, true, false]");
  EXPECT_EQ(Insert(table, {texts, numbers, flags}), (Ids{0, 1, 2, 3, 2}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(Find(table, {Json(arrow::utf8(), R"(["b", "a", "x", "b"])"),
                         Json(arrow::float64(), "[1, NaN, 1, null]"),
                         Json(arrow::boolean(), "[true, true, true, true]")}),
            (Ids{3, 1, KeyTable::kNoKey, KeyTable::kNoKey}));
}

TEST_F(Keys, OfNoColumnsAreOne) {
  KeyTable table;
  std::vector<uint32_t> ids;
  ASSERT_OK(table.Find({}, 2, &ids, context_.pool));
  EXPECT_EQ(ids, (Ids{KeyTable::kNoKey, KeyTable::kNoKey}));
  ASSERT_OK(table.Insert({}, 3, &ids, &new_rows_, context_.pool));
  EXPECT_EQ(ids, (Ids{0, 0, 0}));
  EXPECT_EQ(new_rows_, (std::vector<int64_t>{0}));
  EXPECT_EQ(table.size(), 1);
}

TEST_F(Keys, AgreeWithAMapWhileTheTableGrows) {
  std::mt19937 random(3);
  KeyTable table;
  std::map<std::pair<int64_t, std::string>, uint32_t> oracle;
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> numbers(5000);
    std::vector<std::string> texts(5000);
    Ids expected;
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<int64_t>(random() % 300) - 150;
      texts[i] = std::string(random() % 20, static_cast<char>('a' + random() % 20));
      const auto size = static_cast<uint32_t>(oracle.size());
      expected.push_back(oracle.try_emplace({numbers[i], texts[i]}, size).first->second);
    }
    const arrow::ArrayVector columns = {Column(numbers), Strings(texts)};
    ASSERT_EQ(Insert(table, columns), expected);
    ASSERT_EQ(Find(table, columns), expected);
  }
  EXPECT_EQ(table.size(), oracle.size());
  EXPECT_GT(oracle.size(), 10000);
}

TEST_F(Keys, AreNotConcatenatedAmbiguously) {
  const auto left =
      Encode({Strings({"ab", "a", "", ""}), Strings({"c", "bc", "abc", ""})});
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < i; ++j) EXPECT_NE(left[i], left[j]);
  }
}

TEST_F(Keys, AreEqualExactlyIfTheirValuesAre) {
  const auto numbers = Encode({Json(arrow::float64(), "[1, 1.5, -0.0, NaN, 1e300]")});
  const auto integers = Encode({Json(arrow::int16(), "[1, 2, 0, null, 3]")});
  EXPECT_EQ(numbers[0], integers[0]);
  EXPECT_NE(numbers[1], integers[1]);
  EXPECT_EQ(numbers[2], integers[2]);
  EXPECT_EQ(numbers[3], integers[3]);
  EXPECT_NE(numbers[4], integers[4]);
  const auto lists =
      Encode({Json(arrow::list(arrow::int8()), "[[], null, [null], [1]]")});
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < i; ++j) EXPECT_NE(lists[i], lists[j]);
  }
  const auto maps = Encode({Json(arrow::map(arrow::utf8(), arrow::int64()),
                                 R"([[["k", 1]], [["k", 1]], [["k", 2]]])")});
  EXPECT_EQ(maps[0], maps[1]);
  EXPECT_NE(maps[0], maps[2]);
  const auto fixed =
      Encode({Json(arrow::fixed_size_list(arrow::int64(), 2), "[[1, 2], [2, 1], [1, 2]]")
                  ->Slice(1)});
  EXPECT_NE(fixed[0], fixed[1]);
}

TEST_F(Keys, ThatAreEqualHashEqual) {
  std::mt19937 random(5);
  std::vector<double> reals(2000);
  for (auto& value : reals) value = static_cast<double>(random() % 64) / 4 - 8;
  reals[7] = std::nan("");
  const auto column = Column(reals);
  const auto keys = Encode({column});
  const auto hashes = Get(HashRows({column}, column->length(), context_.pool));
  std::map<std::string, uint64_t> hash_of;
  for (int64_t i = 0; i < column->length(); ++i) {
    const auto hash = hashes[static_cast<size_t>(i)];
    EXPECT_EQ(hash_of.try_emplace(std::string(keys[i]), hash).first->second, hash);
  }
  EXPECT_EQ(hash_of.size(), 65);
}

TEST_F(Keys, AreFoundByName) {
  const auto schema =
      arrow::schema({arrow::field("a", arrow::int64()), arrow::field("b", arrow::int64()),
                     arrow::field("b", arrow::int64())});
  EXPECT_EQ(Get(FindColumns(*schema, {"a"})), std::vector<int>{0});
  EXPECT_FAILS(KeyError, "'c'", FindColumns(*schema, {"a", "c"}));
  EXPECT_FAILS(KeyError, "several", FindColumns(*schema, {"b"}));
}

}  // namespace
}  // namespace xshards::ops
