// SPDX-License-Identifier: Apache-2.0
#include "ops/accumulator.h"
#include "tests/ops/operator_fixture.h"
#include "xshards/distinct_rows.h"

namespace xshards::ops {
namespace {

class PositionAccumulators : public OperatorTest {
 protected:
  std::unique_ptr<Accumulator> Make(const std::string& function, int64_t first_row) {
    return Get(MakeAccumulator({.function = function,
                                .output_type = arrow::int64(),
                                .gives_states = true,
                                .first_row = first_row,
                                .pool = context_.pool}));
  }

  std::shared_ptr<arrow::RecordBatch> Rows(const std::vector<int64_t>& keys) {
    return Batch({{"k", Column(keys)}});
  }

  /// Positions by key, out of the partial phase of partition 3.
  std::shared_ptr<arrow::RecordBatch> Partial(const std::string& function,
                                              arrow::RecordBatchVector rows) {
    context_.partition_index = 3;
    AggregateNode node{.keys = {"k"}, .aggregates = {{function, "*", "position"}}};
    node.phase = AggregatePhase::kPartial;
    return Get(RunToBatch(node, {std::move(rows)}));
  }
};

TEST_F(PositionAccumulators, GiveTheFirstOrLastRowOfAGroup) {
  for (const auto& [function, whole, merged] :
       {std::tuple{"first_position", "[10, 11]", "[4, 11]"},
        std::tuple{"last_position", "[13, 14]", "[13, 90]"}}) {
    auto positions = Make(function, 10);
    positions->Resize(2);
    Check(positions->Consume(nullptr, {0, 1, 0}));
    Check(positions->Consume(nullptr, {0, 1}));
    const auto states = Get(positions->States());
    ExpectArray(states.at(0), Json(arrow::int64(), whole));
    auto both = Make(function, 0);
    both->Resize(2);
    Check(both->Merge(states, {0, 1}));
    Check(both->Merge({Json(arrow::int64(), "[4, 90]")}, {0, 1}));
    ExpectArray(Get(both->Finish()), Json(arrow::int64(), merged));
  }
}

TEST_F(PositionAccumulators, KnowTheirPartition) {
  const int64_t begin = FirstPosition(3);
  const auto batch = Partial("first_position", {Rows({7, 7}), Rows({8, 7, 9})});
  ExpectArray(batch->column(1), Column<int64_t>({begin, begin + 2, begin + 4}));
}

TEST_F(PositionAccumulators, CountOnWhereRowsPassAsGroups) {
  // So many keys that the partial phase stops grouping, after which it sees one again.
  constexpr int64_t kRows = 100000;
  std::vector<int64_t> keys(kRows);
  for (int64_t i = 0; i < kRows; ++i) keys[static_cast<size_t>(i)] = i;
  keys.back() = 5;
  const auto batch = Partial("last_position", Cut(Rows(keys), 1000));
  ASSERT_EQ(batch->num_rows(), kRows);
  const auto& positions = static_cast<const arrow::Int64Array&>(*batch->column(1));
  for (int64_t i = 0; i < kRows; ++i) {
    ASSERT_EQ(positions.Value(i), FirstPosition(3) + i);
  }
}

TEST_F(PositionAccumulators, CountOnAfterGroupsWereGivenOut) {
  // Rows that group well, but more groups than a partial phase holds at a time.
  context_.batch_bytes = 1024;
  constexpr int64_t kRows = 60000;
  std::vector<int64_t> keys(kRows);
  for (int64_t i = 0; i < kRows; ++i) keys[static_cast<size_t>(i)] = i / 4;
  const auto batch = Partial("first_position", Cut(Rows(keys), 1000));
  ASSERT_EQ(batch->num_rows(), kRows / 4);
  const auto& positions = static_cast<const arrow::Int64Array&>(*batch->column(1));
  for (int64_t i = 0; i < kRows / 4; ++i) {
    ASSERT_EQ(positions.Value(i), FirstPosition(3) + 4 * i);
  }
}

}  // namespace
}  // namespace xshards::ops
