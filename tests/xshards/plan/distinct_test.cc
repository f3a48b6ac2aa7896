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

TEST(DistinctRows, AreFoundByPositionUnlessThatReadsFilesAgainForEqualRows) {
  const Plan rows = MakeNode(LiteralNode{});
  const Plan files = MakeNode(FilterNode{col("key") > lit(1)}, {MakeNode(ScanNode{})});
  EXPECT_TRUE(IsMadeByPosition(DistinctNode{}, *rows));
  EXPECT_FALSE(IsMadeByPosition(DistinctNode{}, *files));
  EXPECT_FALSE(IsMadeByPosition(DistinctNode{.keep = Keep::kLast}, *files));
  EXPECT_TRUE(IsMadeByPosition(DistinctNode{.keys = {"key"}}, *files));
  EXPECT_TRUE(IsMadeByPosition(DistinctNode{.keep = Keep::kNone}, *files));
}

TEST(DistinctRows, AreAPlanNodeOfTheirOwn) {
  const auto shards = NumberedShards(TestContext(), 2, 4);
  const auto line = [&](std::vector<std::string> keys, Keep keep) {
    return Describe(*shards.DropDuplicates(std::move(keys), keep).ValueOrDie().plan());
  };
  EXPECT_EQ(Describe(*shards.Distinct().plan()), "Distinct by all columns");
  EXPECT_EQ(line({}, Keep::kLast), "Distinct by all columns, keep last");
  EXPECT_EQ(line({"value", "id", "key"}, Keep::kFirst), "Distinct by all columns");
  EXPECT_EQ(line({"key", "id"}, Keep::kNone), "Distinct by key, id, keep none");
  // The keys of an ordered group_by of no aggregates are distinct rows as well.
  EXPECT_EQ(Describe(*shards.GroupBy({"key"}, {}, /*ordered=*/true).plan()),
            "Distinct by all columns");
}

TEST(DistinctRows, KeepNamedRows) {
  EXPECT_EQ(KeepFromName("first").ValueOrDie(), Keep::kFirst);
  EXPECT_EQ(KeepFromName("last").ValueOrDie(), Keep::kLast);
  EXPECT_EQ(KeepFromName("none").ValueOrDie(), Keep::kNone);
  EXPECT_FAILS(Invalid, "'first', 'last' or 'none', got 'False'", KeepFromName("False"));
}

TEST(DistinctRows, KnowTheSchemaOfEveryPhase) {
  const auto rows = NumberedShards(TestContext(), 1, 4).plan();
  const auto names = [&](DistinctPhase phase) {
    const auto node = MakeNode(DistinctNode{.keys = {"key"}, .phase = phase}, {rows});
    return OutputSchema(*node).ValueOrDie()->field_names();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(DistinctPhase::kWhole), (Names{"id", "key", "value"}));
  EXPECT_EQ(names(DistinctPhase::kPartialRows), (Names{"id", "key", "value"}));
  EXPECT_EQ(names(DistinctPhase::kPartialPositions), (Names{"key", kPositionColumn}));
  EXPECT_EQ(names(DistinctPhase::kFinalPositions), (Names{kPositionColumn}));
  EXPECT_FAILS(KeyError, "'nope'",
               OutputSchema(*MakeNode(DistinctNode{.keys = {"nope"}}, {rows})));
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
    EXPECT_EQ(kept.plan()->kind(), NodeKind::kDistinct);
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
