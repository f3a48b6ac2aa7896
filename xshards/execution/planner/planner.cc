// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/planner.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "xshards/plan/result_store.h"
#include "xshards/types/conform.h"

namespace xshards {

namespace {

arrow::Status CheckPairs(const PlanNode& node, size_t left, size_t right) {
  if (left == right) return arrow::Status::OK();
  return arrow::Status::Invalid(
      Describe(node), " needs the same number of partitions on both sides; got ", left,
      " and ", right);
}

}  // namespace

arrow::Result<Trees> Planner::Lower(const Plan& plan, Storage storage) {
  switch (plan->kind()) {
    case NodeKind::kScan: {
      Trees trees;
      ScanNode of_all = plan->as<ScanNode>();
      const auto splits = std::exchange(of_all.splits, {});
      for (const auto& split : splits) {
        ScanNode scan = of_all;
        scan.splits = {split};
        trees.push_back(MakeNodeLike(*plan, std::move(scan)));
      }
      return trees;
    }
    case NodeKind::kLiteral: {
      const auto& literal = plan->as<LiteralNode>();
      return ToTrees(literal.partitions, literal.schema);
    }
    case NodeKind::kProject:
    case NodeKind::kFilter:
    case NodeKind::kMapNative: {
      ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
      return Wrap(plan->node, trees);
    }
    case NodeKind::kMapPython:
      return LowerMapPython(plan, storage);
    case NodeKind::kExchange:
      return LowerExchange(plan, storage);
    case NodeKind::kAggregate:
      return LowerAggregate(plan, storage);
    case NodeKind::kDistinct:
      return LowerDistinct(plan, storage);
    case NodeKind::kJoin:
      return LowerJoin(plan, storage);
    case NodeKind::kSort:
      return LowerSort(plan, storage);
    case NodeKind::kLimit:
      return LowerLimit(plan, storage);
    case NodeKind::kSample:
      return LowerSample(plan, storage);
    case NodeKind::kUnion:
      return LowerUnion(plan, storage);
    case NodeKind::kZip:
      return LowerZip(plan, storage);
    case NodeKind::kCache:
      return LowerCache(plan, storage);
    case NodeKind::kStageInput:
      break;
  }
  return arrow::Status::NotImplemented("Cannot run ", Describe(*plan));
}

arrow::Result<Trees> Planner::LowerMapPython(const Plan& plan, Storage storage) {
  const bool here = plan->as<MapPythonNode>().on_threads;
  const Storage input = here ? storage : Storage::kShared;
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan->inputs[0], input));
  for (Plan& tree : trees) {
    ARROW_ASSIGN_OR_RAISE(tree, AsStored(tree));
  }
  if (plan->inputs.size() == 1) return Wrap(plan->node, trees);
  ARROW_ASSIGN_OR_RAISE(auto right, Lower(plan->inputs[1], input));
  ARROW_RETURN_NOT_OK(CheckPairs(*plan, trees.size(), right.size()));
  for (size_t i = 0; i < trees.size(); ++i) {
    trees[i] = MakeNode(plan->node, {trees[i], right[i]});
  }
  return trees;
}

arrow::Status Planner::CheckTable(const PlanNode& tree, const PlanNode& consumer) {
  const auto check = [&](const Partition& partition) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto schema, partition.schema());
    if (schema == nullptr || KindOf(*schema) == PayloadKind::kTable) {
      return arrow::Status::OK();
    }
    return arrow::Status::TypeError(
        Describe(consumer), " works on DataFrame shards, but these hold ",
        ToString(KindOf(*schema)), ": convert them to DataFrames with transform_shard");
  };
  if (tree.kind() == NodeKind::kLiteral) {
    for (const auto& partition : tree.as<LiteralNode>().partitions) {
      ARROW_RETURN_NOT_OK(check(partition));
    }
  } else if (tree.kind() == NodeKind::kStageInput) {
    const auto& leaf = tree.as<StageInputNode>();
    if (leaf.num_rows < 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto output,
                          execution_.Await(graph_, leaf.stage->number));
    for (const int32_t i : leaf.partitions) {
      ARROW_RETURN_NOT_OK(check(output->partitions[static_cast<size_t>(i)]));
    }
  } else {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto schema, OutputSchema(tree));
  if (schema != nullptr) return arrow::Status::OK();
  return arrow::Status::TypeError(Describe(consumer),
                                  " works on DataFrame shards, but these are empty");
}

arrow::Result<Trees> Planner::LowerTable(const Plan& plan, Storage storage,
                                         const PlanNode& consumer) {
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan, storage));
  if (trees.empty()) {
    return arrow::Status::Invalid(Describe(consumer), " needs at least one partition");
  }
  // A function's output must exist before its columns are known.
  const bool unknown = std::any_of(trees.begin(), trees.end(),
                                   [](const Plan& tree) { return IsFunction(*tree); });
  if (unknown) {
    ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
    ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kColumnsOfFunction));
  }
  for (const auto& tree : trees) ARROW_RETURN_NOT_OK(CheckTable(*tree, consumer));
  return trees;
}

arrow::Result<Trees> Planner::LowerUnion(const Plan& plan, Storage storage) {
  Trees all;
  std::vector<std::shared_ptr<arrow::Schema>> schemas;
  std::shared_ptr<arrow::Schema> unified;
  for (const auto& input : plan->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto trees, Lower(input, storage));
    if (!trees.empty() && IsFunction(*trees[0])) {
      ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
      ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kColumnsOfFunction));
    }
    // Each input on its own first: how many partitions it has decides no type.
    std::shared_ptr<arrow::Schema> own;
    for (auto& tree : trees) {
      ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*tree));
      if (schema != nullptr) {
        ARROW_ASSIGN_OR_RAISE(own, Unify(own ? own : schema, schema));
      }
      schemas.push_back(std::move(schema));
      all.push_back(std::move(tree));
    }
    if (own == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(unified, Unify(unified ? unified : own, own));
  }
  // Later nodes see one schema, whichever branch a partition is from.
  for (size_t i = 0; i < all.size(); ++i) {
    if (schemas[i] == nullptr || schemas[i]->Equals(*unified, /*check_metadata=*/true)) {
      continue;
    }
    all[i] = MakeNode(ToSchema(*schemas[i], *unified), {all[i]});
  }
  return all;
}

arrow::Result<Trees> Planner::LowerZip(const Plan& plan, Storage storage) {
  ARROW_ASSIGN_OR_RAISE(auto left, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_ASSIGN_OR_RAISE(auto right, LowerTable(plan->inputs[1], storage, *plan));
  ARROW_RETURN_NOT_OK(CheckPairs(*plan, left.size(), right.size()));
  Trees trees;
  for (size_t i = 0; i < left.size(); ++i) {
    trees.push_back(MakeNode(ZipNode{}, {left[i], right[i]}));
  }
  return trees;
}

arrow::Result<Trees> Planner::LowerCache(const Plan& plan, Storage storage) {
  const auto& cache = plan->as<CacheNode>();
  const auto lock = LockToFill(cache);
  if (const auto filled = Filled(cache)) return ToTrees(*filled);
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan->inputs[0], storage));
  ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
  ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kPartitionsOfCache));
  ARROW_ASSIGN_OR_RAISE(auto partitions, PartitionsOf(trees));
  if (partitions.has_value() && execution_.runs()) Fill(cache, *std::move(partitions));
  return trees;
}

std::unique_lock<std::mutex> Planner::LockToFill(const CacheNode& cache) const {
  // explain() fills no cache, and must not wait for a thread that does.
  if (!execution_.runs() || options_.results == nullptr) return {};
  return options_.results->LockToFill(cache.id);
}

CachedPartitions Planner::Filled(const CacheNode& cache) const {
  if (cache.partitions != nullptr || options_.results == nullptr) return cache.partitions;
  return options_.results->partitions(cache.id);
}

void Planner::Fill(const CacheNode& cache, std::vector<Partition> partitions) const {
  if (options_.results == nullptr) return;
  options_.results->SetPartitions(cache.id, std::move(partitions));
}

int32_t Planner::AddStage(Trees trees, SinkSpec sink) {
  Stage stage{.number = static_cast<int32_t>(graph_.stages.size()) + 1,
              .trees = std::move(trees),
              .sink = std::move(sink)};
  DescribeTrees(graph_, &stage);
  // Output of worker processes is read by other processes.
  if (stage.place == StagePlace::kProcesses) stage.sink.storage = Storage::kShared;
  stage.algorithms = std::exchange(algorithms_, {});
  graph_.stages.push_back(std::move(stage));
  return graph_.stages.back().number;
}

arrow::Result<Trees> Planner::Publish(Trees trees, Storage storage) {
  const auto all_are = [&](NodeKind kind) {
    return std::all_of(trees.begin(), trees.end(),
                       [kind](const Plan& tree) { return tree->kind() == kind; });
  };
  if (all_are(NodeKind::kLiteral)) return trees;
  if (all_are(NodeKind::kStageInput)) {
    // A node without its own stage: its algorithm is noted at the stage it reads.
    const int32_t number = trees[0]->as<StageInputNode>().stage->number;
    auto& algorithms = graph_.stages[static_cast<size_t>(number) - 1].algorithms;
    std::move(algorithms_.begin(), algorithms_.end(), std::back_inserter(algorithms));
    algorithms_.clear();
    return trees;
  }
  ARROW_ASSIGN_OR_RAISE(const auto schema, OutputSchema(*trees[0]));
  return ReadStage(
      AddStage(std::move(trees), {.kind = SinkKind::kPublish, .storage = storage}),
      schema);
}

arrow::Result<Trees> Planner::Partitioned(Trees trees, SinkSpec sink) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, OutputSchema(*trees[0]));
  return ReadStage(AddStage(std::move(trees), std::move(sink)), schema);
}

Trees Planner::ReadStage(int32_t number, const std::shared_ptr<arrow::Schema>& schema) {
  const auto reference = std::make_shared<const StageReference>(StageReference{number});
  auto& stage = graph_.stages[static_cast<size_t>(number) - 1];
  stage.readers = reference;
  Trees trees;
  for (int32_t i = 0; i < stage.num_outputs(); ++i) {
    trees.push_back(MakeNode(
        StageInputNode{.stage = reference, .partitions = {i}, .schema = schema}));
  }
  return trees;
}

arrow::Result<Trees> Planner::Observe(const Trees& trees, Decision decides) {
  Trees observed;
  for (const Plan& tree : trees) {
    ARROW_ASSIGN_OR_RAISE(auto with_facts, Observe(tree, decides));
    observed.push_back(std::move(with_facts));
  }
  return observed;
}

arrow::Result<Plan> Planner::Observe(const Plan& tree, Decision decides) {
  if (tree->kind() != NodeKind::kStageInput) {
    std::vector<Plan> inputs;
    for (const auto& input : tree->inputs) {
      ARROW_ASSIGN_OR_RAISE(auto observed, Observe(input, decides));
      inputs.push_back(std::move(observed));
    }
    return WithInputs(tree, std::move(inputs));
  }
  auto leaf = tree->as<StageInputNode>();
  if (leaf.num_rows >= 0) return tree;
  auto& stage_decides =
      graph_.stages[static_cast<size_t>(leaf.stage->number) - 1].decides;
  if (stage_decides == Decision::kNothing) stage_decides = decides;
  ARROW_ASSIGN_OR_RAISE(const auto output, execution_.Await(graph_, leaf.stage->number));
  if (output == nullptr) return tree;
  leaf.num_rows = 0;
  leaf.num_bytes = 0;
  leaf.schema = output->schema;
  for (const int32_t i : leaf.partitions) {
    const auto& partition = output->partitions[static_cast<size_t>(i)];
    leaf.num_rows += partition.num_rows();
    leaf.num_bytes += partition.num_bytes();
  }
  return MakeNode(std::move(leaf));
}

arrow::Result<std::optional<std::vector<Partition>>> Planner::PartitionsOf(
    const Trees& trees) {
  std::vector<Partition> partitions;
  for (const Plan& tree : trees) {
    if (tree->kind() == NodeKind::kLiteral) {
      const auto& held = tree->as<LiteralNode>().partitions;
      partitions.insert(partitions.end(), held.begin(), held.end());
      continue;
    }
    const auto& leaf = tree->as<StageInputNode>();
    if (leaf.num_rows < 0) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(const auto output,
                          execution_.Await(graph_, leaf.stage->number));
    for (const int32_t i : leaf.partitions) {
      partitions.push_back(output->partitions[static_cast<size_t>(i)]);
    }
  }
  return partitions;
}

int64_t Planner::EstimateBytes(const Trees& trees) const {
  int64_t bytes = 0;
  for (const Plan& tree : trees) {
    const int64_t more = EstimateBytes(*tree);
    if (more < 0) return -1;
    bytes += more;
  }
  return bytes;
}

int64_t Planner::EstimateBytes(const PlanNode& tree) const {
  if (IsFunction(tree)) return -1;
  if (tree.kind() == NodeKind::kStageInput) {
    const auto& leaf = tree.as<StageInputNode>();
    if (leaf.num_bytes >= 0) return leaf.num_bytes;
    const auto& stage = graph_.stages[static_cast<size_t>(leaf.stage->number) - 1];
    const int64_t all = EstimateBytes(stage.trees);
    return all < 0 ? -1 : all / std::max(1, stage.num_outputs());
  }
  if (tree.inputs.empty()) return InputBytes(tree);
  // Input shared by the fragments of a stage is not read by each.
  const auto* join = std::get_if<JoinNode>(&tree.node);
  if (join != nullptr && join->shared_table > 0) {
    return EstimateBytes(*tree.inputs[join->build_left ? 1 : 0]);
  }
  return EstimateBytes(tree.inputs);
}

}  // namespace xshards
