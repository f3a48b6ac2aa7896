// SPDX-License-Identifier: Apache-2.0
// Planner::LowerAggregate: groups in one stage where rows of equal keys are together, in
// two where they are not.
#include <utility>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/plan/partitioning.h"

namespace xshards {

arrow::Result<Trees> Planner::LowerAggregate(const Plan& plan, Storage storage) {
  auto aggregate = plan->as<AggregateNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  // Also finds unknown columns that could not be checked before running.
  ARROW_ASSIGN_OR_RAISE(auto output, OutputSchema(*MakeNode(aggregate, {trees[0]})));
  Note(ChooseAlgorithm(*plan));
  if (GroupsInPlace(aggregate, *plan->inputs[0])) return Wrap(aggregate, trees);
  const bool one = aggregate.ordered || aggregate.keys.empty();
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
