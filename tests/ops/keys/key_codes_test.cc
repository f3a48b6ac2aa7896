// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/key_codes.h"

#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class KeyCodesTest : public OperatorTest {};

TEST_F(KeyCodesTest, NumberTheValuesOfEachColumn) {
  KeyCodes codes(2);
  Check(codes.Add({Strings({"b", "a", "b"}), Column<int64_t>({7, 7, 8})}, context_.pool));
  Check(codes.Add({Strings({"c", "a"}), Column<int64_t>({9, 8})}, context_.pool));
  EXPECT_EQ(codes.num_rows(), 5);
  EXPECT_EQ(codes.codes(0), (ScratchVector<uint32_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(codes.codes(1), (ScratchVector<uint32_t>{0, 0, 1, 2, 1}));
  ExpectArray(Get(codes.Values(0, context_.pool)), Strings({"b", "a", "c"}));
  ExpectArray(Get(codes.Values(1, context_.pool)), Column<int64_t>({7, 8, 9}));
  EXPECT_GT(codes.num_bytes(), 0);
}

TEST_F(KeyCodesTest, DecodeTheValuesOfDictionaries) {
  KeyCodes codes(1);
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto values = Json(arrow::utf8(), R"(["x", null, "y"])");
  const auto add = [&](const std::string& indices) {
    const auto array = Get(
        arrow::DictionaryArray::FromArrays(type, Json(arrow::int8(), indices), values));
    Check(codes.Add({array}, context_.pool));
  };
  add("[2, null, 1]");
  add("[2, 0, null]");
  EXPECT_EQ(codes.codes(0), (ScratchVector<uint32_t>{0, 1, 1, 0, 2, 1}));
  ExpectArray(Get(codes.Values(0, context_.pool)),
              Json(arrow::utf8(), R"(["y", null, "x"])"));
}

// Few values, whose pairs are numbered by arithmetic, and many, which need a table.
TEST_F(KeyCodesTest, GiveEqualKeysEqualNumbers) {
  std::mt19937 random(5);
  for (const int64_t num_values : {1, 3, 100, 100000}) {
    constexpr int64_t kRows = 5000;
    KeyCodes codes(3);
    std::vector<std::tuple<int64_t, int64_t, int64_t>> keys;
    for (int part = 0; part < 2; ++part) {
      std::vector<int64_t> columns[3];
      for (int64_t row = 0; row < kRows; ++row) {
        for (auto& column : columns) {
          column.push_back(static_cast<int64_t>(random()) % num_values);
        }
        keys.emplace_back(columns[0].back(), columns[1].back(), columns[2].back());
      }
      Check(codes.Add({Column(columns[0]), Column(columns[1]), Column(columns[2])},
                      context_.pool));
    }
    const auto groups = Get(codes.FindGroups());
    ASSERT_EQ(groups.of_row.size(), keys.size());
    std::map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> of_key;
    std::map<uint32_t, size_t> of_group;
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_LT(groups.of_row[i], groups.end);
      ASSERT_EQ(of_key.emplace(keys[i], groups.of_row[i]).first->second,
                groups.of_row[i]);
      of_group.emplace(groups.of_row[i], i);
    }
    EXPECT_EQ(of_group.size(), of_key.size());
  }
}

}  // namespace
}  // namespace xshards::ops
