// SPDX-License-Identifier: Apache-2.0
// Planner::LowerJoin: one side is held whole, or both are partitioned by their keys.
#include <algorithm>
#include <utility>

#include "xshards/execution/planner/join_strategy.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/plan/partitioning.h"

namespace xshards {

namespace {

/// One tree for all partitions that trees, which are leaves of one kind, read.
Plan AllOf(const Trees& trees) {
  if (trees[0]->kind() == NodeKind::kStageInput) {
    const int32_t stage = trees[0]->as<StageInputNode>().stage->number;
    const bool of_one_stage =
        std::all_of(trees.begin(), trees.end(), [&](const Plan& tree) {
          return tree->as<StageInputNode>().stage->number == stage;
        });
    if (!of_one_stage) return MakeNode(UnionNode{}, trees);
    Plan all = trees[0];
    for (size_t i = 1; i < trees.size(); ++i) {
      all = Merged(all->as<StageInputNode>(), trees[i]->as<StageInputNode>());
    }
    return all;
  }
  std::vector<Partition> partitions;
  for (const Plan& tree : trees) {
    const auto& held = tree->as<LiteralNode>().partitions;
    partitions.insert(partitions.end(), held.begin(), held.end());
  }
  return MakeNode(LiteralNode{.schema = trees[0]->as<LiteralNode>().schema,
                              .partitions = {Partition::Joined(partitions)}});
}

}  // namespace

arrow::Result<Trees> Planner::LowerJoin(const Plan& plan, Storage storage) {
  const auto& join = plan->as<JoinNode>();
  ARROW_ASSIGN_OR_RAISE(auto left, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_ASSIGN_OR_RAISE(auto right, LowerTable(plan->inputs[1], storage, *plan));
  ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(join, {left[0], right[0]})).status());
  const auto decides = Decision::kJoinAlgorithm;
  ARROW_ASSIGN_OR_RAISE(left, Observe(left, decides));
  ARROW_ASSIGN_OR_RAISE(right, Observe(right, decides));
  const auto choose = [&] {
    return ChooseJoin(join, EstimateBytes(left), EstimateBytes(right),
                      options_.memory_bytes);
  };
  auto choice = choose();
  if (choice.hold_all) {
    // The size of the output of files and functions is known only once it exists.
    Trees& held = choice.build_left ? left : right;
    ARROW_ASSIGN_OR_RAISE(held, Publish(std::move(held), storage));
    ARROW_ASSIGN_OR_RAISE(held, Observe(held, decides));
    const bool was_left = choice.build_left;
    choice = choose();
    choice.hold_all &= choice.build_left == was_left;
  }
  Note(choice.algorithm);
  auto chosen = join;
  chosen.build_left = choice.build_left;
  return choice.hold_all
             ? JoinWithAll(std::move(chosen), left, right, storage)
             : JoinByHash(*plan, chosen, std::move(left), std::move(right), storage);
}

arrow::Result<Trees> Planner::JoinWithAll(JoinNode join, const Trees& left,
                                          const Trees& right, Storage storage) {
  const Trees& streamed = join.build_left ? right : left;
  const Plan all = AllOf(join.build_left ? left : right);
  join.shared_table = ++num_shared_tables_;
  Trees trees;
  for (const Plan& tree : streamed) {
    trees.push_back(join.build_left ? MakeNode(join, {all, tree})
                                    : MakeNode(join, {tree, all}));
  }
  // Each worker would build its own table.
  if (storage == Storage::kHeap) return trees;
  return Publish(std::move(trees), storage);
}

arrow::Result<Trees> Planner::JoinByHash(const PlanNode& plan, const JoinNode& join,
                                         Trees left, Trees right, Storage storage) {
  const JoinSide left_side{left.size(), std::max<int64_t>(0, EstimateBytes(left))};
  const JoinSide right_side{right.size(), std::max<int64_t>(0, EstimateBytes(right))};
  const int32_t num_partitions =
      NumJoinPartitions(join, left_side, right_side, options_.memory_bytes);
  const auto is_partitioned = [&](const PlanNode& input,
                                  const std::vector<std::string>& keys) {
    return PartitioningOf(input) == Partitioning{keys, num_partitions};
  };
  const bool left_is_partitioned = is_partitioned(*plan.inputs[0], join.left_keys);
  const bool right_is_partitioned = is_partitioned(*plan.inputs[1], join.right_keys);
  // With encoded columns, each part would unify the dictionaries of all batches.
  ARROW_ASSIGN_OR_RAISE(const bool any_encoded, AnyEncoded({left[0], right[0]}));
  const bool in_parts = !left_is_partitioned && !right_is_partitioned && !any_encoded;
  const int32_t num_parts =
      in_parts ? NumJoinParts(join, left_side, right_side, num_partitions) : 1;
  if (num_parts > 1) {
    Note({Algorithm::kJoinInParts,
          std::to_string(num_parts) +
              " per partition, so that the table of each part fits the cache"});
  }
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = ExchangeMode::kHash;
  sink.num_partitions = num_partitions * num_parts;
  const auto partition_side = [&](const char* side, const std::vector<std::string>& keys,
                                  bool is_partitioned_already, Trees& trees) {
    if (is_partitioned_already) {
      Note({Algorithm::kExchangeElided,
            std::string(side) + " side is already partitioned by the join keys"});
      return arrow::Status::OK();
    }
    sink.keys = keys;
    return Partitioned(std::move(trees), sink).Value(&trees);
  };
  ARROW_RETURN_NOT_OK(partition_side("left", join.left_keys, left_is_partitioned, left));
  ARROW_RETURN_NOT_OK(
      partition_side("right", join.right_keys, right_is_partitioned, right));
  Trees trees;
  for (size_t i = 0; i < left.size(); ++i) {
    trees.push_back(MakeNode(join, {left[i], right[i]}));
  }
  return InGroups(trees, static_cast<size_t>(num_parts));
}

}  // namespace xshards
