// SPDX-License-Identifier: Apache-2.0
#include "ops/distinct/positions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "tests/ops/operator_fixture.h"
#include "xshards/plan/distinct.h"

namespace xshards::ops {
namespace {

constexpr Keep kAllKeeps[] = {Keep::kFirst, Keep::kLast, Keep::kNone};

class Positions : public OperatorTest {
 protected:
  static DistinctNode Node(Keep keep, DistinctPhase phase,
                           std::vector<std::string> keys = {"k"}) {
    return DistinctNode{.keys = std::move(keys), .keep = keep, .phase = phase};
  }

  /// What the partial phase of a partition gives.
  arrow::RecordBatchVector Local(Keep keep, int32_t partition,
                                 const arrow::RecordBatchVector& rows,
                                 std::vector<std::string> keys = {"k"}) {
    context_.partition_index = partition;
    return Get(
        Run(Node(keep, DistinctPhase::kPartialPositions, std::move(keys)), {rows}));
  }

  std::vector<int64_t> Final(Keep keep, bool gives_dropped,
                             const arrow::RecordBatchVector& rows,
                             std::vector<std::string> keys = {"k"}) {
    auto node = Node(keep, DistinctPhase::kFinalPositions, std::move(keys));
    node.gives_dropped = gives_dropped;
    const auto batch = Get(RunToBatch(node, {rows}));
    const auto& positions = static_cast<const arrow::Int64Array&>(*batch->column(0));
    std::vector<int64_t> found(positions.raw_values(),
                               positions.raw_values() + positions.length());
    std::sort(found.begin(), found.end());
    return found;
  }

  static std::vector<int64_t> PositionsOf(const arrow::RecordBatchVector& batches) {
    std::vector<int64_t> found;
    for (const auto& batch : batches) {
      const auto column = batch->GetColumnByName(kPositionColumn);
      const auto& positions = static_cast<const arrow::Int64Array&>(*column);
      for (int64_t i = 0; i < positions.length(); ++i) {
        found.push_back(positions.Value(i));
      }
    }
    return found;
  }

  static std::shared_ptr<arrow::RecordBatch> Rows(const std::vector<int64_t>& keys) {
    return Batch({{"k", Column(keys)}});
  }

  /// The rows that are wanted, and the others, by the book.
  static std::pair<std::vector<int64_t>, std::vector<int64_t>> Expected(
      Keep keep, const std::vector<int64_t>& keys) {
    std::map<int64_t, std::vector<int64_t>> rows;
    for (size_t i = 0; i < keys.size(); ++i) {
      rows[keys[i]].push_back(static_cast<int64_t>(i));
    }
    std::set<int64_t> wanted;
    for (const auto& [key, of_key] : rows) {
      if (keep == Keep::kFirst) wanted.insert(of_key.front());
      if (keep == Keep::kLast) wanted.insert(of_key.back());
      if (keep == Keep::kNone && of_key.size() == 1) wanted.insert(of_key[0]);
    }
    std::pair<std::vector<int64_t>, std::vector<int64_t>> found;
    for (int64_t i = 0; i < std::ssize(keys); ++i) {
      (wanted.contains(i) ? found.first : found.second).push_back(i);
    }
    return found;
  }
};

TEST_F(Positions, ListsCandidateRowsOfAPartition) {
  const arrow::RecordBatchVector rows = {Rows({7, 7}), Rows({}), Rows({8, 7, 9})};
  const int64_t begin = FirstPosition(3);
  EXPECT_EQ(PositionsOf(Local(Keep::kFirst, 3, rows)),
            (std::vector{begin, begin + 2, begin + 4}));
  EXPECT_EQ(PositionsOf(Local(Keep::kLast, 3, rows)),
            (std::vector{begin + 2, begin + 3, begin + 4}));
  EXPECT_EQ(PositionsOf(Local(Keep::kNone, 3, rows)),
            (std::vector{kNoPosition, begin + 2, begin + 4}));
  const auto batch = Local(Keep::kLast, 3, rows).at(0);
  ExpectArray(batch->column(0), Column<int64_t>({8, 7, 9}));
}

TEST_F(Positions, FinalPositionsMergeAllPartitions) {
  std::mt19937 random(3);
  for (const int64_t num_keys : {1, 50, 3000, 1000000000}) {
    std::vector<int64_t> keys(4000);
    for (auto& key : keys) key = static_cast<int64_t>(random()) % num_keys;
    for (const Keep keep : kAllKeeps) {
      arrow::RecordBatchVector moved;
      // One partition: then positions are row numbers, wherever the rows are cut.
      for (const auto& batch : Local(keep, 0, Cut(Rows(keys), 700))) {
        moved.push_back(batch);
      }
      EXPECT_EQ(Final(keep, false, moved), Expected(keep, keys).first);
    }
    // Rows that came as they are.
    std::vector<int64_t> numbers(keys.size());
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    const auto passed = Batch({{"k", Column(keys)}, {kPositionColumn, Column(numbers)}});
    for (const Keep keep : kAllKeeps) {
      EXPECT_EQ(Final(keep, false, Cut(passed, 300)), Expected(keep, keys).first);
      EXPECT_EQ(Final(keep, true, Cut(passed, 300)), Expected(keep, keys).second);
    }
  }
}

TEST_F(Positions, ForwardsRowsIfKeysAreMostlyDistinct) {
  constexpr int64_t kRows = 100000;
  std::vector<int64_t> keys(kRows);
  for (int64_t i = 0; i < kRows; ++i) keys[static_cast<size_t>(i)] = i;
  keys[7] = 5;
  keys.back() = 5;
  for (const Keep keep : kAllKeeps) {
    const auto positions = PositionsOf(Local(keep, 3, Cut(Rows(keys), 1000)));
    ASSERT_EQ(std::ssize(positions), kRows);
    for (int64_t i = 0; i < kRows; ++i) {
      ASSERT_EQ(positions[static_cast<size_t>(i)], FirstPosition(3) + i);
    }
  }
}

TEST_F(Positions, ContinueAcrossChunks) {
  // So little memory that a chunk is a few batches.
  MemoryBudget small(1 << 20);
  context_.storage.budget = &small;
  constexpr int64_t kRows = 200000;
  std::vector<int64_t> keys(kRows);
  for (int64_t i = 0; i < kRows; ++i) keys[static_cast<size_t>(i)] = i / 4 % 30000;
  for (const Keep keep : kAllKeeps) {
    const auto moved = Local(keep, 0, Cut(Rows(keys), 1000));
    EXPECT_LT(std::ssize(PositionsOf(moved)), kRows / 3);
    EXPECT_GT(std::ssize(PositionsOf(moved)), 30000);  // more than one chunk
    EXPECT_EQ(Final(keep, false, moved), Expected(keep, keys).first);
  }
  context_.storage.budget = &budget_;
}

TEST_F(Positions, DictionaryEncodesTextOfLowCardinality) {
  constexpr int64_t kRows = 60000;
  std::vector<std::string> left;
  std::vector<int64_t> right;
  std::vector<int64_t> keys;  // both as one number
  std::mt19937 random(9);
  for (int64_t i = 0; i < kRows; ++i) {
    const auto text = static_cast<int64_t>(random() % 70);
    right.push_back(static_cast<int64_t>(random() % 90));
    left.push_back("text " + std::to_string(text));
    keys.push_back(text * 1000 + right.back());
  }
  const auto rows = Batch({{"a", Strings(left)}, {"b", Column(right)}});
  for (const Keep keep : kAllKeeps) {
    const auto moved = Local(keep, 0, Cut(rows, 7000), {"a", "b"});
    EXPECT_EQ(moved.at(0)->column(0)->type_id(), arrow::Type::DICTIONARY);
    EXPECT_LT(std::ssize(PositionsOf(moved)), 70 * 90 + 1);
    EXPECT_EQ(Final(keep, false, moved, {"a", "b"}), Expected(keep, keys).first);
  }
}

TEST_F(Positions, HaveASchemaWithoutRows) {
  const auto nothing = Rows({});
  const auto stream =
      Get(Open(Node(Keep::kFirst, DistinctPhase::kPartialPositions), {{nothing}}));
  EXPECT_EQ(Get(stream->Next()), nullptr);
  EXPECT_EQ(stream->schema()->field_names(),
            (std::vector<std::string>{"k", kPositionColumn}));
  EXPECT_TRUE(
      Final(Keep::kFirst, false,
            {Batch({{"k", Column<int64_t>({})}, {kPositionColumn, Column<int64_t>({})}})})
          .empty());
}

TEST_F(Positions, RowsWithoutColumnsHaveOneKey) {
  const auto rows = arrow::RecordBatch::Make(arrow::schema({}), 5, arrow::ArrayVector{});
  const auto moved = Local(Keep::kLast, 0, {rows}, {});
  EXPECT_EQ(Final(Keep::kLast, false, moved, {}), std::vector<int64_t>{4});
}

TEST_F(Positions, RejectsInvalidInput) {
  const auto rows = Rows({1});
  EXPECT_FAILS(
      KeyError, "nope",
      Open(Node(Keep::kFirst, DistinctPhase::kPartialPositions, {"nope"}), {{rows}}));
  EXPECT_FAILS(KeyError, kPositionColumn,
               Open(Node(Keep::kFirst, DistinctPhase::kFinalPositions), {{rows}}));
}

}  // namespace
}  // namespace xshards::ops
