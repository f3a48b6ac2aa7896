// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include <arrow/compute/api.h>

#include "ops/exchange/range_partition.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

/// A random row and how pandas would compare it with another.
struct Row {
  std::optional<double> real;  // null
  bool is_nan = false;         // or NaN: the same to a sort
  std::optional<std::string> text;
  int8_t small = 0;

  bool real_missing() const { return is_nan || !real; }
};

template <typename T>
int Order(bool a_missing, const T& a, bool b_missing, const T& b, bool ascending,
          bool nulls_first) {
  if (a_missing || b_missing) return (nulls_first ? -1 : 1) * (a_missing - b_missing);
  if (a == b) return 0;
  return (a < b) == ascending ? -1 : 1;
}

class Sort : public OperatorTest {
 protected:
  Sort() {
    static const char* const kTexts[] = {"a", "z", "ζ", "zz"};
    std::mt19937 random(23);
    for (int i = 0; i < 3000; ++i) {
      Row row;
      const auto kind = random() % 10;
      if (kind > 0) row.real = static_cast<double>(random() % 9) - 4;
      row.is_nan = kind == 1;
      if (random() % 8 != 0) row.text = kTexts[random() % 4];
      row.small = static_cast<int8_t>(random() % 4);
      rows_.push_back(row);
    }
    std::vector<double> reals;
    std::vector<bool> real_valid;
    std::vector<std::string> texts;
    std::vector<bool> text_valid;
    std::vector<int8_t> smalls;
    std::vector<int64_t> numbers;
    for (const auto& row : rows_) {
      reals.push_back(row.is_nan ? std::nan("") : row.real.value_or(0));
      real_valid.push_back(row.is_nan || row.real);
      texts.push_back(row.text.value_or(""));
      text_valid.push_back(row.text.has_value());
      smalls.push_back(row.small);
      numbers.push_back(static_cast<int64_t>(numbers.size()));
    }
    batch_ = Batch({{"real", Column(reals, real_valid)},
                    {"text", Strings(texts, text_valid)},
                    {"small", Column(smalls)},
                    {"row", Column(numbers)}});
  }

  int Compare(const Row& a, const Row& b, const SortNode& node) const {
    for (const auto& key : node.keys) {
      int order;
      if (key.column == "real") {
        order = Order(a.real_missing(), a.real, b.real_missing(), b.real, key.ascending,
                      node.nulls_first);
      } else if (key.column == "text") {
        order = Order(!a.text, a.text, !b.text, b.text, key.ascending, node.nulls_first);
      } else {
        order = Order(false, a.small, false, b.small, key.ascending, false);
      }
      if (order != 0) return order;
    }
    return 0;
  }

  std::vector<int64_t> Expected(const SortNode& node) const {
    std::vector<int64_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return Compare(rows_[static_cast<size_t>(a)], rows_[static_cast<size_t>(b)], node) <
             0;
    });
    return order;
  }

  static std::vector<SortNode> Nodes() {
    std::vector<SortNode> nodes;
    for (bool nulls_first : {false, true}) {
      for (bool up : {false, true}) {
        nodes.push_back({{{"real", up}}, nulls_first});
        nodes.push_back({{{"text", up}}, nulls_first});
        nodes.push_back({{{"small", up}}, nulls_first});
        nodes.push_back({{{"real", up}, {"text", !up}}, nulls_first});
        nodes.push_back({{{"text", up}, {"small", true}, {"real", false}}, nulls_first});
        nodes.push_back({{{"small", up}, {"real", up}, {"text", up}}, nulls_first});
      }
    }
    return nodes;
  }

  std::vector<Row> rows_;
  std::shared_ptr<arrow::RecordBatch> batch_;
};

TEST_F(Sort, IsStableForEveryKeyDirectionAndBatchSize) {
  for (const auto& node : Nodes()) {
    for (int64_t rows : {100, 5000}) {
      const auto out = Get(RunToBatch(node, {Cut(batch_, rows)}));
      ExpectArray(out->GetColumnByName("row"), Column(Expected(node)));
    }
  }
}

TEST_F(Sort, MergesRunsThatExceedMemory) {
  for (int64_t limit : {20'000, 200'000}) {
    MemoryBudget small(limit);
    context_.storage.budget = &small;
    context_.batch_bytes = 1000;
    for (const auto& node : Nodes()) {
      const auto out = Get(RunToBatch(node, {Cut(batch_, 70)}));
      ExpectArray(out->GetColumnByName("row"), Column(Expected(node)));
    }
  }
}

TEST_F(Sort, KeepsOnlyTheFirstRows) {
  for (auto node : Nodes()) {
    for (int64_t limit : {0, 1, 50, 2900, 5000}) {
      node.limit = limit;
      auto expected = Expected(node);
      expected.resize(std::min(expected.size(), static_cast<size_t>(limit)));
      const auto out = Get(RunToBatch(node, {Cut(batch_, 300)}));
      ExpectArray(out->GetColumnByName("row"), Column(expected));
    }
  }
}

TEST_F(Sort, ForwardsSortedInput) {
  const auto batches = Cut(batch_, 1000);
  const auto out = Get(Run(SortNode{{{"row"}}}, {batches}));
  ASSERT_EQ(out.size(), batches.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], batches[i]);
}

TEST_F(Sort, SortsByDictionaryValuesNotIndices) {
  const auto batch = Batch({{"a", arrow::dictionary(arrow::int8(), arrow::large_utf8()),
                             R"(["z", "b", null, "a", "z"])"}});
  const auto out = Get(RunToBatch(SortNode{{{"a"}}}, {{batch}}));
  ExpectArray(Get(arrow::compute::Cast(*out->column(0), arrow::large_utf8())),
              Json(arrow::large_utf8(), R"(["a", "b", "z", "z", null])"));
}

TEST_F(Sort, GivesBoundedBatches) {
  context_.batch_bytes = 1000;
  for (const auto& batch : Get(Run(SortNode{{{"row", false}}}, {{batch_}}))) {
    EXPECT_LT(batch->num_rows(), 100);
  }
}

TEST_F(Sort, OfNoRowsIsEmpty) {
  const auto out = Get(RunToBatch(SortNode{{{"real"}}}, {{batch_->Slice(0, 0)}}));
  EXPECT_EQ(out->num_rows(), 0);
}

TEST_F(Sort, NamesAColumnWithoutOrder) {
  EXPECT_FAILS(KeyError, "nope", Open(SortNode{{{"nope"}}}, {{batch_}}));
  EXPECT_FAILS(Invalid, "columns to sort by, got 0", Open(SortNode{}, {{batch_}}));
  const auto lists = Batch({{"l", arrow::list(arrow::int64()), "[[1], [2]]"}});
  const auto out = Run(SortNode{{{"l"}}}, {{lists}});
  EXPECT_NE(out.status().message().find("'l'"), std::string::npos) << out.status();
}

TEST_F(Sort, AgreesWithRangePartitioning) {
  std::mt19937 random(29);
  for (const auto& node : Nodes()) {
    // Boundaries are some of the rows, in sort order.
    auto order = Expected(node);
    std::vector<int64_t> picked;
    for (size_t at = 100; at < order.size(); at += 100 + random() % 700) {
      picked.push_back(order[at]);
    }
    arrow::ArrayVector columns;
    arrow::FieldVector fields;
    for (const auto& key : node.keys) {
      const auto column = batch_->GetColumnByName(key.column);
      columns.push_back(Get(arrow::compute::Take(*column, *Column(picked))));
      fields.push_back(arrow::field(key.column, column->type()));
    }
    const auto boundaries = arrow::RecordBatch::Make(
        arrow::schema(fields), static_cast<int64_t>(picked.size()), columns);
    const auto destinations = Get(RangeDestinations(*batch_, node.keys, node.nulls_first,
                                                    *boundaries, context_.pool));
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto expected =
          std::count_if(picked.begin(), picked.end(), [&](int64_t boundary) {
            return Compare(rows_[static_cast<size_t>(boundary)], rows_[i], node) <= 0;
          });
      ASSERT_EQ(destinations[i], expected);
    }
  }
}

TEST_F(Sort, TakesBoundariesOfAnotherEncoding) {
  const auto batch = Batch({{"a", arrow::large_utf8(), R"(["a", "m", "z", null])"}});
  const auto boundaries =
      Batch({{"a", arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["m"])"}});
  EXPECT_EQ(Get(RangeDestinations(*batch, {{"a"}}, false, *boundaries, context_.pool)),
            (std::vector<int32_t>{0, 1, 1, 1}));
  EXPECT_EQ(Get(RangeDestinations(*batch, {{"a"}}, true, *boundaries, context_.pool)),
            (std::vector<int32_t>{0, 1, 1, 0}));
}

}  // namespace
}  // namespace xshards::ops
