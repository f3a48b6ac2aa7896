// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/distinct.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::Ids;
using testing::Numbered;
using testing::NumberedShards;
using testing::TestContext;

AggregateNode Distinct(std::vector<Aggregate> aggregates = {}) {
  AggregateNode node;
  node.keys = {"key"};
  node.aggregates = std::move(aggregates);
  node.ordered = true;
  return node;
}

TEST(DistinctRows, AreRowsOfTheInputInTheirOrder) {
  EXPECT_TRUE(KeepsRows(Distinct()));
  EXPECT_TRUE(KeepsRows(Distinct({{"first_row", "id", "id"}})));
  EXPECT_FALSE(KeepsRows(Distinct({{"first_row", "id", "other"}})));
  EXPECT_FALSE(KeepsRows(Distinct({{"last_row", "id", "id"}})));
  EXPECT_FALSE(KeepsRows(Distinct({{"count", kAllRows, "n"}})));
  auto node = Distinct({{"last_row", "id", "id"}});
  node.by_last = true;
  EXPECT_TRUE(KeepsRows(node));
  node.ordered = false;
  EXPECT_FALSE(KeepsRows(node));
}

TEST(DistinctRows, AreFoundByPositionUnlessThatReadsFilesAgainForTheKeys) {
  const Plan rows = MakeNode(LiteralNode{});
  const Plan files = MakeNode(FilterNode{col("key") > lit(1)}, {MakeNode(ScanNode{})});
  EXPECT_TRUE(IsMadeByPosition(Distinct(), *rows));
  EXPECT_FALSE(IsMadeByPosition(Distinct(), *files));
  EXPECT_TRUE(IsMadeByPosition(Distinct({{"first_row", "id", "id"}}), *files));
  auto single = Distinct();
  single.single = true;
  EXPECT_TRUE(IsMadeByPosition(single, *files));
}

/// Rows of uneven partitions, one of them empty, whose keys repeat, and the numbers of
/// those that are the first or last of their key.
class DroppedDuplicates : public ::testing::TestWithParam<int64_t> {
 protected:
  DroppedDuplicates() {
    std::vector<Partition> partitions;
    int64_t first = 0;
    for (int64_t rows : {5, 0, 700, 1, 44}) {
      partitions.push_back(Partition::FromPayload(
          Payload::Table(Numbered(0)->schema(), {Numbered(rows, GetParam(), first)})));
      first += rows;
    }
    num_rows_ = first;
    shards_ = XShards::FromPartitions(context_, partitions, Numbered(0)->schema());
  }

  std::vector<int64_t> Expected(Keep keep) const {
    const auto all = Numbered(num_rows_, GetParam());
    std::map<std::string, std::vector<int64_t>> of_key;
    for (int64_t i = 0; i < num_rows_; ++i) {
      const auto key = all->GetColumnByName("key")->GetScalar(i).ValueOrDie();
      of_key[key->is_valid ? key->ToString() : ""].push_back(i);
    }
    std::vector<int64_t> rows;
    for (const auto& [key, its_rows] : of_key) {
      if (keep == Keep::kNone && its_rows.size() > 1) continue;
      rows.push_back(keep == Keep::kLast ? its_rows.back() : its_rows.front());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  std::shared_ptr<Context> context_ = TestContext();
  int64_t num_rows_ = 0;
  std::optional<XShards> shards_;
};

TEST_P(DroppedDuplicates, LeaveTheFirstTheLastOrTheOnlyRowOfAKey) {
  for (const Keep keep : {Keep::kFirst, Keep::kLast, Keep::kNone}) {
    ASSERT_OK_AND_ASSIGN(auto kept, shards_->DropDuplicates({"key"}, keep));
    ASSERT_OK_AND_ASSIGN(const int num_partitions, kept.num_partitions());
    EXPECT_EQ(num_partitions, 5);
    ASSERT_OK_AND_ASSIGN(const auto partitions, kept.Collect());
    EXPECT_EQ(partitions.size(), 5);
    ASSERT_OK_AND_ASSIGN(auto table, kept.ToTable());
    EXPECT_EQ(Ids(*table), Expected(keep));
    EXPECT_EQ(table->schema()->field_names(), Numbered(0)->schema()->field_names());
    // The rows themselves, not only their numbers.
    ASSERT_OK_AND_ASSIGN(auto one, table->CombineChunksToBatch());
    const auto all = Numbered(num_rows_, GetParam());
    for (int64_t i = 0; i < one->num_rows(); ++i) {
      EXPECT_TRUE(one->Slice(i, 1)->Equals(
          *all->Slice(Expected(keep)[static_cast<size_t>(i)], 1)));
    }
  }
}

TEST_P(DroppedDuplicates, AreNoneOfRowsThatDiffer) {
  ASSERT_OK_AND_ASSIGN(auto table, shards_->Distinct().ToTable());
  std::vector<int64_t> all(static_cast<size_t>(num_rows_));
  std::iota(all.begin(), all.end(), int64_t{0});
  EXPECT_EQ(Ids(*table), all);
  ASSERT_OK_AND_ASSIGN(auto keys, shards_->Select({"key"}).Unique());
  EXPECT_EQ(keys->length(), static_cast<int64_t>(Expected(Keep::kFirst).size()));
}

INSTANTIATE_TEST_SUITE_P(Keys, DroppedDuplicates, ::testing::Values(1, 7, 100000));

}  // namespace
}  // namespace xshards
