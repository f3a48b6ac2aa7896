// SPDX-License-Identifier: Apache-2.0
// Planner::LowerAggregate: groups in one stage where rows of equal keys are together, in
// two where they are not.
#include <utility>

#include "xshards/execution/algorithm_note.h"
#include "xshards/execution/planner.h"
#include "xshards/plan/distinct.h"
#include "xshards/plan/partitioning.h"

namespace xshards {

arrow::Result<Trees> Planner::LowerAggregate(const Plan& plan, Storage storage) {
  auto aggregate = plan->as<AggregateNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  // Also finds unknown columns that the plan, before running, could not.
  ARROW_ASSIGN_OR_RAISE(auto input, OutputSchema(*trees[0]));
  ARROW_ASSIGN_OR_RAISE(auto output, OutputSchema(*MakeNode(aggregate, {trees[0]})));
  Note(AlgorithmNote(*plan));
  if (GroupsInPlace(aggregate, *plan->inputs[0])) return Wrap(aggregate, trees);
  // Before a function has run, its columns are not known.
  if (aggregate.all_columns && input != nullptr) {
    aggregate.keys = input->field_names();
    aggregate.all_columns = false;
  }
  const bool has_keys = aggregate.all_columns || !aggregate.keys.empty();
  if (has_keys && IsMadeByPosition(plan->as<AggregateNode>(), *plan->inputs[0])) {
    return LowerDistinct(aggregate, std::move(trees), output, storage);
  }
  const bool one = aggregate.ordered || !has_keys;
  aggregate.phase = AggregatePhase::kPartial;
  trees = Wrap(aggregate, trees);
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = one ? ExchangeMode::kGather : ExchangeMode::kHash;
  sink.num_partitions = one ? 1 : static_cast<int32_t>(trees.size());
  sink.keys = aggregate.keys;
  ARROW_ASSIGN_OR_RAISE(trees, Partitioned(std::move(trees), std::move(sink)));
  aggregate.phase = AggregatePhase::kFinal;
  aggregate.schema = std::move(output);
  return Wrap(aggregate, trees);
}

}  // namespace xshards
