// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "tests/ops/operator_fixture.h"
#include "xshards/execution/fragments/stage_state.h"

namespace xshards::ops {
namespace {

using arrow::int64;
using arrow::large_utf8;

class Join : public OperatorTest {
 protected:
  static JoinNode On(const std::string& key, JoinType type) {
    return {.type = type, .left_keys = {key}, .right_keys = {key}};
  }
  const std::shared_ptr<arrow::RecordBatch> left_ =
      Batch({{"k", large_utf8(), R"(["a", "b", null, "a", "c"])"},
             {"v", int64(), "[1, 2, 3, 4, 5]"}});
  const std::shared_ptr<arrow::RecordBatch> right_ =
      Batch({{"w", arrow::float64(), "[0.1, 0.2, 0.3, 0.4]"},
             {"k", large_utf8(), R"(["d", "a", null, "a"])"}});
};

TEST_F(Join, InnerKeepsPairsInTheOrderOfTheLeft) {
  ExpectBatch(Get(RunToBatch(On("k", JoinType::kInner), {Cut(left_, 2), Cut(right_, 3)})),
              Batch({{"k", large_utf8(), R"(["a", "a", null, "a", "a"])"},
                     {"v", int64(), "[1, 1, 3, 4, 4]"},
                     {"w", arrow::float64(), "[0.2, 0.4, 0.3, 0.2, 0.4]"}}));
}

TEST_F(Join, LeftKeepsEveryRowOfTheLeft) {
  ExpectBatch(Get(RunToBatch(On("k", JoinType::kLeft), {Cut(left_, 2), {right_}})),
              Batch({{"k", large_utf8(), R"(["a", "a", "b", null, "a", "a", "c"])"},
                     {"v", int64(), "[1, 1, 2, 3, 4, 4, 5]"},
                     {"w", arrow::float64(), "[0.2, 0.4, null, 0.3, 0.2, 0.4, null]"}}));
}

TEST_F(Join, RightKeepsEveryRowOfTheRightInItsOrder) {
  ExpectBatch(Get(RunToBatch(On("k", JoinType::kRight), {{left_}, Cut(right_, 1)})),
              Batch({{"k", large_utf8(), R"(["d", "a", "a", null, "a", "a"])"},
                     {"v", int64(), "[null, 1, 4, 3, 1, 4]"},
                     {"w", arrow::float64(), "[0.1, 0.2, 0.2, 0.3, 0.4, 0.4]"}}));
}

TEST_F(Join, OuterKeepsEveryRowWithItsKey) {
  ExpectBatch(
      Get(RunToBatch(On("k", JoinType::kOuter), {{left_}, {right_}})),
      Batch({{"k", large_utf8(), R"(["a", "a", "b", null, "a", "a", "c", "d"])"},
             {"v", int64(), "[1, 1, 2, 3, 4, 4, 5, null]"},
             {"w", arrow::float64(), "[0.2, 0.4, null, 0.3, 0.2, 0.4, null, 0.1]"}}));
}

TEST_F(Join, KeepsKeysOfDifferentNamesAndAddsSuffixes) {
  const auto left = Batch({{"a", int64(), "[1, 2]"}, {"x", int64(), "[10, 20]"}});
  const auto right = Batch({{"x", int64(), "[7, 8]"}, {"b", int64(), "[2, 3]"}});
  const JoinNode node{.type = JoinType::kOuter, .left_keys = {"a"}, .right_keys = {"b"}};
  ExpectBatch(Get(RunToBatch(node, {{left}, {right}})),
              Batch({{"a", int64(), "[1, 2, null]"},
                     {"x_x", int64(), "[10, 20, null]"},
                     {"x_y", int64(), "[null, 7, 8]"},
                     {"b", int64(), "[null, 2, 3]"}}));
}

TEST_F(Join, KeysHaveTheLeftTypeUnlessOnlyTheRightHasThem) {
  const auto left = Batch({{"k", arrow::int32(), "[1, 2, null]"}});
  const auto right = Batch({{"k", arrow::float64(), "[2.0, 2.5, NaN]"}});
  for (auto type : {JoinType::kInner, JoinType::kOuter}) {
    const auto out = Get(RunToBatch(On("k", type), {{left}, {right}}));
    EXPECT_EQ(out->column(0)->type_id(),
              type == JoinType::kInner ? arrow::Type::INT32 : arrow::Type::DOUBLE);
    EXPECT_EQ(out->num_rows(), type == JoinType::kInner ? 2 : 4);
  }
  const auto dictionary =
      Batch({{"k", arrow::dictionary(arrow::int8(), large_utf8()), R"(["a", "z"])"}});
  const auto out = Get(RunToBatch(On("k", JoinType::kInner), {{left_}, {dictionary}}));
  ExpectArray(out->column(0), Json(large_utf8(), R"(["a", "a"])"));
}

TEST_F(Join, WorksWithAnEmptySide) {
  const auto no_left = left_->Slice(0, 0);
  const auto no_right = right_->Slice(0, 0);
  const auto rows = [&](JoinType type, const auto& left, const auto& right) {
    return Get(RunToBatch(On("k", type), {{left}, {right}}))->num_rows();
  };
  EXPECT_EQ(rows(JoinType::kInner, left_, no_right), 0);
  EXPECT_EQ(rows(JoinType::kInner, no_left, right_), 0);
  EXPECT_EQ(rows(JoinType::kLeft, left_, no_right), 5);
  EXPECT_EQ(rows(JoinType::kLeft, no_left, right_), 0);
  EXPECT_EQ(rows(JoinType::kRight, no_left, right_), 4);
  EXPECT_EQ(rows(JoinType::kRight, left_, no_right), 0);
  EXPECT_EQ(rows(JoinType::kOuter, left_, no_right), 5);
  EXPECT_EQ(rows(JoinType::kOuter, no_left, right_), 4);
  EXPECT_EQ(rows(JoinType::kOuter, no_left, no_right), 0);
}

TEST_F(Join, SplitsALargeProductIntoBatches) {
  const auto left = Batch({{"k", Column(std::vector<int64_t>(300, 1))}});
  const auto right = Batch({{"k", Column(std::vector<int64_t>(300, 1))},
                            {"w", Column(std::vector<int64_t>(300, 2))}});
  context_.batch_bytes = 8000;
  int64_t total = 0;
  for (const auto& batch : Get(Run(On("k", JoinType::kInner), {{left}, {right}}))) {
    EXPECT_LE(batch->num_rows(), 1000);
    total += batch->num_rows();
  }
  EXPECT_EQ(total, 90000);
}

TEST_F(Join, AgreesWithNestedLoops) {
  std::mt19937 random(53);
  using Key = std::pair<std::optional<int64_t>, std::string>;
  using Pair = std::tuple<std::optional<int64_t>, std::optional<int64_t>>;
  const auto make = [&](size_t count, std::vector<Key>* keys, const char* id) {
    std::vector<int64_t> numbers;
    std::vector<bool> valid;
    std::vector<std::string> texts;
    std::vector<int64_t> ids;
    for (size_t i = 0; i < count; ++i) {
      Key key{std::nullopt, std::string(1, static_cast<char>('a' + random() % 3))};
      if (random() % 7 != 0) key.first = static_cast<int64_t>(random() % 40);
      keys->push_back(key);
      numbers.push_back(key.first.value_or(0));
      valid.push_back(key.first.has_value());
      texts.push_back(key.second);
      ids.push_back(static_cast<int64_t>(i));
    }
    return Batch(
        {{"n", Column(numbers, valid)}, {"t", Strings(texts)}, {id, Column(ids)}});
  };
  std::vector<Key> left_keys;
  std::vector<Key> right_keys;
  const auto left = make(400, &left_keys, "l");
  const auto right = make(300, &right_keys, "r");
  std::multiset<Pair> inner;
  std::set<int64_t> left_matched;
  std::set<int64_t> right_matched;
  for (size_t i = 0; i < left_keys.size(); ++i) {
    for (size_t j = 0; j < right_keys.size(); ++j) {
      if (left_keys[i] != right_keys[j]) continue;
      inner.emplace(i, j);
      left_matched.insert(static_cast<int64_t>(i));
      right_matched.insert(static_cast<int64_t>(j));
    }
  }
  for (auto type : {JoinType::kInner, JoinType::kLeft, JoinType::kRight, JoinType::kOuter,
                    JoinType::kSemi, JoinType::kAnti}) {
    const bool selects = type == JoinType::kSemi || type == JoinType::kAnti;
    auto expected = selects ? std::multiset<Pair>{} : inner;
    for (int64_t i = 0; i < 400; ++i) {
      const bool keeps_rest =
          type == JoinType::kLeft || type == JoinType::kOuter || type == JoinType::kAnti;
      const bool keeps = left_matched.contains(i) ? type == JoinType::kSemi : keeps_rest;
      if (keeps) {
        expected.emplace(i, std::nullopt);
      }
    }
    for (int64_t j = 0; j < 300; ++j) {
      if ((type == JoinType::kRight || type == JoinType::kOuter) &&
          !right_matched.contains(j)) {
        expected.emplace(std::nullopt, j);
      }
    }
    const JoinNode node{.type = type, .left_keys = {"n", "t"}, .right_keys = {"n", "t"}};
    // With the smallest budget only a few rows of the right are in memory at a time.
    for (int64_t batch_bytes : {int64_t{1} << 22, int64_t{300}, int64_t{200}}) {
      context_.batch_bytes = batch_bytes;
      MemoryBudget small(batch_bytes == 200 ? 12'000 : int64_t{1} << 30);
      context_.storage.budget = &small;
      const auto out = Get(RunToBatch(node, {Cut(left, 37), Cut(right, 41)}));
      std::multiset<Pair> actual;
      const auto value = [&](const char* name, int64_t row) -> std::optional<int64_t> {
        const auto& column =
            static_cast<const arrow::Int64Array&>(*out->GetColumnByName(name));
        if (column.IsNull(row)) return std::nullopt;
        return column.Value(row);
      };
      for (int64_t row = 0; row < out->num_rows(); ++row) {
        const auto l = value("l", row);
        const auto r = selects ? std::nullopt : value("r", row);
        actual.emplace(l, r);
        const Key& key =
            l ? left_keys[static_cast<size_t>(*l)] : right_keys[static_cast<size_t>(*r)];
        EXPECT_EQ(value("n", row), key.first);
      }
      EXPECT_EQ(actual, expected);
    }
  }
}

TEST_F(Join, TakesTheSchemaFromTheFirstBatch) {
  const auto stream = Get(OpenLate(On("k", JoinType::kInner), {{left_}, {right_}}));
  EXPECT_EQ(stream->schema(), nullptr);
  EXPECT_EQ(Get(ReadAll(*stream)).at(0)->num_rows(), 5);
  EXPECT_EQ(stream->schema()->num_fields(), 3);
}

TEST_F(Join, RejectsInvalidKeys) {
  EXPECT_FAILS(KeyError, "nope", Open(On("nope", JoinType::kInner), {{left_}, {right_}}));
  const auto numbers = Batch({{"k", int64(), "[1]"}});
  EXPECT_FAILS(TypeError, "'k'", Open(On("k", JoinType::kInner), {{left_}, {numbers}}));
}

TEST_F(Join, SemiAndAntiSelectRowsOfTheLeft) {
  ExpectBatch(
      Get(RunToBatch(On("k", JoinType::kSemi), {Cut(left_, 2), Cut(right_, 3)})),
      Batch({{"k", large_utf8(), R"(["a", null, "a"])"}, {"v", int64(), "[1, 3, 4]"}}));
  ExpectBatch(Get(RunToBatch(On("k", JoinType::kAnti), {Cut(left_, 2), Cut(right_, 3)})),
              Batch({{"k", large_utf8(), R"(["b", "c"])"}, {"v", int64(), "[2, 5]"}}));
}

TEST_F(Join, CrossPairsEveryLeftRowWithEveryRightRow) {
  const auto left = Batch({{"a", int64(), "[1, 2, 3]"}});
  const auto right = Batch({{"a", int64(), "[8, 9]"}});
  for (int64_t batch_bytes : {int64_t{1} << 20, int64_t{8}}) {
    context_.batch_bytes = batch_bytes;
    ExpectBatch(Get(RunToBatch(JoinNode{.type = JoinType::kCross}, {{left}, {right}})),
                Batch({{"a_x", int64(), "[1, 1, 2, 2, 3, 3]"},
                       {"a_y", int64(), "[8, 9, 8, 9, 8, 9]"}}));
  }
  EXPECT_EQ(
      Get(RunToBatch(JoinNode{.type = JoinType::kCross}, {{left}, {right->Slice(0, 0)}}))
          ->num_rows(),
      0);
  EXPECT_FAILS(Invalid, "no keys", Open(On("a", JoinType::kCross), {{left}, {right}}));
}

TEST_F(Join, MayBuildOnTheLeftSide) {
  auto node = On("k", JoinType::kInner);
  node.build_left = true;
  ExpectBatch(Get(RunToBatch(node, {Cut(left_, 2), Cut(right_, 3)})),
              Batch({{"k", large_utf8(), R"(["a", "a", null, "a", "a"])"},
                     {"v", int64(), "[1, 4, 3, 1, 4]"},
                     {"w", arrow::float64(), "[0.2, 0.2, 0.3, 0.4, 0.4]"}}));
}

TEST_F(Join, FragmentsShareOneTable) {
  auto node = On("k", JoinType::kLeft);
  node.shared_table = 1;
  StageState stage;
  context_.stage = &stage;
  const auto first = Get(Open(node, {{left_}, {right_}}));
  // Of the second only the left is read.
  const auto second = Get(Open(node, {{left_}, {right_->Slice(0, 0)}}));
  EXPECT_EQ(Get(ReadAll(*first)).at(0)->num_rows(), 7);
  EXPECT_EQ(Get(ReadAll(*second)).at(0)->num_rows(), 7);
}

TEST_F(Join, ForwardsTheProbeBatchIfEveryRowHasOneMatch) {
  const auto left =
      Batch({{"k", int64(), "[3, 1, 2]"}, {"v", large_utf8(), R"(["x", "y", "z"])"}});
  const auto right = Batch({{"k", int64(), "[1, 2, 3]"}, {"w", int64(), "[10, 20, 30]"}});
  const auto out = Get(Run(On("k", JoinType::kInner), {{left}, {right}})).at(0);
  EXPECT_EQ(out->column(1)->data()->buffers, left->column(1)->data()->buffers);
  ExpectArray(out->column(2), Json(int64(), "[30, 10, 20]"));
}

}  // namespace
}  // namespace xshards::ops
