// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/partitioning.h"

#include <map>
#include <set>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::NumberedShards;
using testing::TestContext;

using Found = std::optional<Partitioning>;

class PartitioningTest : public ::testing::Test {
 protected:
  static Found Of(const XShards& shards) { return PartitioningOf(*shards.plan()); }

  const XShards rows_ = NumberedShards(TestContext(), 3, 20);
  const XShards by_key_ = rows_.PartitionBy({"key"}, 4);
  const Found four_ = Partitioning{{"key"}, 4};
};

TEST_F(PartitioningTest, IsThatOfAnExchangeByHash) {
  EXPECT_EQ(Of(rows_), Found());
  EXPECT_EQ(Of(by_key_), four_);
  EXPECT_EQ(Of(rows_.PartitionBy({"key"})), (Partitioning{{"key"}, 3}));
  EXPECT_EQ(Of(rows_.Repartition(4)), Found());
  EXPECT_EQ(Of(by_key_.Repartition(4)), Found());
}

TEST_F(PartitioningTest, StaysWhereRowsAndKeysDo) {
  EXPECT_EQ(Of(by_key_.Filter(col("id") > lit(3)).Cache()), four_);
  EXPECT_EQ(Of(by_key_.WithColumn("id", lit(1))), four_);
  EXPECT_EQ(Of(by_key_.Select({{"renamed", col("key")}})),
            (Partitioning{{"renamed"}, 4}));
  EXPECT_EQ(Of(by_key_.WithColumn("key", lit(1))), Found());
  EXPECT_EQ(Of(by_key_.Drop({"key"})), Found());
  EXPECT_EQ(Of(by_key_.Select({"id"})), Found());
  EXPECT_EQ(Of(by_key_.Head(3)), Found());
  EXPECT_EQ(Of(by_key_.Union(by_key_)), Found());
  EXPECT_EQ(Of(by_key_.Distinct()), Found());
}

TEST_F(PartitioningTest, IsMadeByGroups) {
  EXPECT_EQ(Of(rows_.GroupBy({"key"}, {})), (Partitioning{{"key"}, 3}));
  EXPECT_EQ(Of(by_key_.GroupBy({"id", "key"}, {})), four_);
  EXPECT_EQ(Of(by_key_.GroupBy({"id"}, {})), (Partitioning{{"id"}, 4}));
  EXPECT_EQ(Of(rows_.GroupBy({}, {{"count", kAllRows, "n"}})), Found());
}

TEST_F(PartitioningTest, SavesTheSecondExchange) {
  const auto again = by_key_.PartitionBy({"key"}, 4);
  ASSERT_OK_AND_ASSIGN(auto once, by_key_.Collect());
  ASSERT_OK_AND_ASSIGN(auto twice, again.Collect());
  ASSERT_EQ(twice.size(), once.size());
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(twice[i].num_rows(), once[i].num_rows());
  }
  ASSERT_OK_AND_ASSIGN(auto text, again.Explain());
  EXPECT_NE(text.find("exchange elided: "), std::string::npos) << text;
  EXPECT_EQ(text.find("stage 2"), std::string::npos) << text;
  for (const auto& other :
       {by_key_.PartitionBy({"key"}, 5), by_key_.PartitionBy({"id"}, 4),
        by_key_.PartitionBy({"key", "id"}, 4)}) {
    ASSERT_OK_AND_ASSIGN(text, other.Explain());
    EXPECT_EQ(text.find("exchange elided"), std::string::npos) << text;
    EXPECT_NE(text.find("stage 2"), std::string::npos) << text;
  }
}

TEST_F(PartitioningTest, SavesTheExchangeOfGroups) {
  const std::vector<Aggregate> sums = {{"sum", "value", "sum"},
                                       {"count", kAllRows, "rows"}};
  const std::vector<std::string> keys = {"key", "id"};
  const auto groups = [](const XShards& shards) {
    std::map<std::pair<std::string, int64_t>, std::string> rows;
    auto table = shards.ToTable().ValueOrDie();
    table = table->CombineChunks().ValueOrDie();
    for (int64_t i = 0; i < table->num_rows(); ++i) {
      const auto at = [&](const char* name) {
        return table->GetColumnByName(name)->GetScalar(i).ValueOrDie()->ToString();
      };
      rows[{at("key"), std::stoll(at("id"))}] = at("sum") + "/" + at("rows");
    }
    return rows;
  };
  const auto expected = groups(rows_.GroupBy(keys, sums));
  EXPECT_EQ(expected.size(), 60);
  const auto in_place = by_key_.GroupBy(keys, sums);
  EXPECT_EQ(groups(in_place), expected);
  ASSERT_OK_AND_ASSIGN(auto text, in_place.Explain());
  EXPECT_NE(text.find("aggregation in place: "), std::string::npos);
}

TEST_F(PartitioningTest, SavesTheExchangeOfAJoin) {
  const auto context = TestContext();
  const auto left = NumberedShards(context, 3, 20);
  const auto right = left.Select({{"key", col("key")}, {"other", col("id")}});
  // Never joined by holding one side whole.
  const JoinNode outer{
      .type = JoinType::kOuter, .left_keys = {"key"}, .right_keys = {"key"}};
  const auto rows = [](const XShards& shards) {
    auto table = shards.ToTable().ValueOrDie();
    table = table->CombineChunks().ValueOrDie();
    std::multiset<std::string> found;
    for (int64_t i = 0; i < table->num_rows(); ++i) {
      std::string row;
      for (const auto& column : table->columns()) {
        row += column->GetScalar(i).ValueOrDie()->ToString() + "/";
      }
      found.insert(std::move(row));
    }
    return found;
  };
  const auto stages = [&] { return context->last_profile().stages.size(); };
  const auto expected = rows(left.Join(right, outer));
  EXPECT_GT(expected.size(), 60);
  EXPECT_EQ(stages(), 3);
  const auto left_in_place = left.PartitionBy({"key"}, 4).Cache();
  ASSERT_OK(left_in_place.Count().status());
  EXPECT_EQ(rows(left_in_place.Join(right, outer)), expected);
  EXPECT_EQ(stages(), 2);
  const auto right_in_place = right.PartitionBy({"key"}, 4).Cache();
  ASSERT_OK(right_in_place.Count().status());
  EXPECT_EQ(rows(left_in_place.Join(right_in_place, outer)), expected);
  EXPECT_EQ(stages(), 1);
  // Other counts, or other keys: it moves.
  EXPECT_EQ(rows(left.PartitionBy({"key"}, 5).Join(right_in_place, outer)), expected);
  EXPECT_EQ(rows(left.PartitionBy({"id"}, 4).Join(right_in_place, outer)), expected);
}

}  // namespace
}  // namespace xshards
