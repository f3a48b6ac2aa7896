// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "tests/ops/operator_fixture.h"
#include "tests/support/test_data.h"
#include "xshards/plan/sampling.h"
#include "xshards/shards.h"

namespace xshards::ops {
namespace {

class Sample : public ::testing::Test {
 protected:
  std::vector<int64_t> Ids(const XShards& shards) {
    const auto table = shards.ToTable().ValueOrDie();
    std::vector<int64_t> ids;
    for (const auto& chunk : table->GetColumnByName("id")->chunks()) {
      const auto& numbers = static_cast<const arrow::Int64Array&>(*chunk);
      ids.insert(ids.end(), numbers.raw_values(),
                 numbers.raw_values() + numbers.length());
    }
    return ids;
  }

  /// `rows` rows with ids counted from 0, in some number of partitions.
  XShards Rows(int64_t rows, int partitions) {
    return XShards::FromTable(
               context_,
               arrow::Table::FromRecordBatches({testing::Numbered(rows)}).ValueOrDie(),
               partitions)
        .ValueOrDie();
  }

  std::shared_ptr<Context> context_ = testing::TestContext();
};

TEST_F(Sample, DependsOnTheSeedNotOnPartitions) {
  for (const bool replace : {false, true}) {
    for (const char* weights : {"", "id"}) {
      const SampleOptions options{
          .count = 30, .replace = replace, .weights = weights, .seed = 4};
      const auto expected = Ids(Rows(100, 1).Sample(options));
      EXPECT_EQ(expected.size(), 30U);
      EXPECT_TRUE(std::is_sorted(expected.begin(), expected.end()));
      const std::set<int64_t> distinct(expected.begin(), expected.end());
      EXPECT_EQ(distinct.size() < 30, replace);
      for (int partitions : {2, 7, 150}) {
        EXPECT_EQ(Ids(Rows(100, partitions).Sample(options)), expected) << partitions;
      }
      auto other = options;
      other.seed = 5;
      EXPECT_NE(Ids(Rows(100, 2).Sample(other)), expected);
    }
  }
}

TEST_F(Sample, ByWeightDrawsTheRowsOfTheSmallestKeys) {
  constexpr int64_t kRows = 70000;
  constexpr uint64_t kSeed = 11;
  // Weights of few values, so that the keys of rows without any are all equal.
  const auto rows = Rows(kRows, 7).WithColumn("w", col("id") >= lit(int64_t{50000}));
  const auto weighted = rows.WithColumn(
      "w", Expression::Call("choose", {col("w"), lit(int64_t{3}), lit(int64_t{0})}));
  std::vector<DrawOrder> order;
  for (int64_t row = 0; row < kRows; ++row) {
    order.push_back({WeightedDrawKey(kSeed, row, row >= 50000 ? 3 : 0), row});
  }
  std::sort(order.begin(), order.end());
  for (const int64_t count : {1, 1234, 19999, 20000}) {
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < count; ++i) {
      expected.push_back(order[static_cast<size_t>(i)].row);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(Ids(weighted.Sample({.count = count, .weights = "w", .seed = kSeed})),
              expected);
  }
}

TEST_F(Sample, ASplitGivesEveryRowToOneSide) {
  const auto [rest, drawn] = Rows(101, 3).Split(0.3, 9);
  auto all = Ids(rest);
  const auto second = Ids(drawn);
  EXPECT_EQ(second.size(), 30U);
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, Ids(Rows(101, 1)));
}

TEST_F(Sample, OfNoRowsAndOfAllRows) {
  EXPECT_TRUE(Ids(Rows(0, 3).Sample({.share = 0.5})).empty());
  EXPECT_TRUE(Ids(Rows(9, 3).Sample({.count = 0})).empty());
  EXPECT_TRUE(Ids(Rows(9, 3).Sample({.count = 0, .weights = "id"})).empty());
  EXPECT_EQ(Ids(Rows(9, 3).Sample({.share = 1})), Ids(Rows(9, 1)));
}

TEST_F(Sample, RejectsInvalidOptionsByName) {
  const auto rows = Rows(5, 2);
  EXPECT_FAILS(Invalid, "Cannot draw 6 of 5 rows", rows.Sample({.count = 6}).ToTable());
  EXPECT_FAILS(Invalid, "Cannot draw 1 of 0 rows",
               Rows(0, 2).Sample({.count = 1, .replace = true}).ToTable());
  EXPECT_FAILS(KeyError, "nowhere", rows.Sample({.weights = "nowhere"}).ToTable());
  EXPECT_FAILS(TypeError, "Weights must be numbers, but column 'key'",
               rows.Sample({.weights = "key"}).ToTable());
  EXPECT_FAILS(Invalid, "only 4 have a weight over 0",
               rows.Sample({.count = 5, .weights = "id"}).ToTable());
  const auto negative = rows.WithColumn("w", col("id") - lit(1));
  for (const bool replace : {false, true}) {
    EXPECT_FAILS(
        Invalid, "column 'w' has -1",
        negative.Sample({.count = 1, .replace = replace, .weights = "w"}).ToTable());
  }
}

TEST_F(Sample, DropNullKeepsRowsWithEnoughValues) {
  const auto missing = lit(arrow::MakeNullScalar(arrow::float64()));
  const auto gap = [&](int64_t least) {
    return Expression::Call("choose", {col("id") >= lit(least), col("value"), missing});
  };
  const auto rows = Rows(4, 2).Select({{"id", col("id")}, {"a", gap(1)}, {"b", gap(2)}});
  const auto kept = [&](const arrow::Result<XShards>& dropped) {
    return Ids(dropped.ValueOrDie());
  };
  EXPECT_EQ(kept(rows.DropNull()), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(kept(rows.DropNull({"a"})), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(kept(rows.DropNull({}, 2)), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(kept(rows.DropNull({}, 0)), (std::vector<int64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace xshards::ops
