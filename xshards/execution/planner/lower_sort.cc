// SPDX-License-Identifier: Apache-2.0
// Planner::LowerSort: sort in place where rows are in order already, by ranges else.
#include <utility>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/execution/planner/range_boundaries.h"

namespace xshards {

arrow::Result<Trees> Planner::LowerSort(const Plan& plan, Storage storage) {
  const auto& sort = plan->as<SortNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(sort, {trees[0]})).status());
  if (trees.size() == 1) {
    Note({Algorithm::kSortInPlace, "there is one partition"});
    return Wrap(sort, trees);
  }
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  if (sort.limit) {
    Note({Algorithm::kTopRows,
          "each partition keeps its first rows in sort order, and only these are "
          "gathered"});
    sink.mode = ExchangeMode::kGather;
    ARROW_ASSIGN_OR_RAISE(trees, Partitioned(Wrap(sort, trees), std::move(sink)));
    return Wrap(sort, trees);
  }
  ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
  ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kWhetherRowsAreSorted));
  ARROW_ASSIGN_OR_RAISE(auto in_order, AreInOrder(trees, sort, RowsSeen::kSample));
  if (in_order) {
    Note({Algorithm::kSortInPlace, "a sample of the rows is already sorted"});
    // Then sorting each partition, which forwards sorted rows, may be enough.
    ARROW_ASSIGN_OR_RAISE(auto sorted, Publish(Wrap(sort, trees), storage));
    ARROW_ASSIGN_OR_RAISE(sorted, Observe(sorted, Decision::kWhetherPartitionsAreSorted));
    ARROW_ASSIGN_OR_RAISE(const auto partitions, PartitionsOf(sorted));
    if (!partitions.has_value()) return sorted;
    ARROW_ASSIGN_OR_RAISE(in_order, AreInOrder(sorted, sort, RowsSeen::kEnds));
    if (in_order) return sorted;
    trees = std::move(sorted);
    Note({Algorithm::kRangeSort,
          "a sample of the rows is sorted, but the partitions are not"});
  } else {
    Note(ChooseAlgorithm(*plan));
  }
  // The runner chooses the boundaries, from a sample of the rows.
  sink.mode = ExchangeMode::kRange;
  sink.num_partitions = static_cast<int32_t>(trees.size());
  sink.sort_keys = sort.keys;
  sink.nulls_first = sort.nulls_first;
  ARROW_ASSIGN_OR_RAISE(trees, Partitioned(std::move(trees), std::move(sink)));
  return Wrap(sort, trees);
}

arrow::Result<bool> Planner::AreInOrder(const Trees& trees, const SortNode& sort,
                                        RowsSeen seen) {
  ARROW_ASSIGN_OR_RAISE(const auto partitions, PartitionsOf(trees));
  if (!partitions.has_value()) return false;
  ARROW_ASSIGN_OR_RAISE(const auto schema, UnifySchemas(*partitions));
  return xshards::AreInOrder(*partitions, sort, schema, seen, options_.pool);
}

}  // namespace xshards
