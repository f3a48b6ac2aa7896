// SPDX-License-Identifier: Apache-2.0
// PushDownProjections: walks from the root to the scans with the set of columns needed.
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "xshards/optimizer/optimizer.h"

namespace xshards {

namespace {

/// The columns a node's consumer uses; nullopt means all of them, whatever they are.
using Needed = std::optional<std::set<std::string>>;

Needed With(Needed needed, const std::vector<std::string>& more) {
  if (needed) needed->insert(more.begin(), more.end());
  return needed;
}

/// Returns a plan with at least the needed columns, in their old order.
arrow::Result<Plan> Prune(const Plan& plan, const Needed& needed);

arrow::Result<Plan> PruneInputs(const Plan& plan, const Needed& needed) {
  std::vector<Plan> inputs;
  for (const auto& input : plan->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto pruned, Prune(input, needed));
    inputs.push_back(std::move(pruned));
  }
  return WithInputs(plan, std::move(inputs));
}

Plan PruneScan(const Plan& plan, const Needed& needed) {
  if (!needed) return plan;
  auto scan = plan->as<ScanNode>();
  std::vector<std::string> all;
  if (scan.columns) {
    all = *scan.columns;
  } else {
    all = scan.schema->field_names();
  }
  std::vector<std::string> columns;
  for (auto& name : all) {
    if (needed->contains(name)) columns.push_back(std::move(name));
  }
  if (static_cast<int>(columns.size()) == scan.schema->num_fields()) return plan;
  scan.columns = std::move(columns);
  return MakeNode(std::move(scan));
}

arrow::Result<Plan> PruneProject(const Plan& plan, const Needed& needed) {
  const auto& project = plan->as<ProjectNode>();
  if (project.keep_input) return PruneInputs(plan, std::nullopt);
  ProjectNode pruned;
  std::set<std::string> used;
  for (size_t i = 0; i < project.names.size(); ++i) {
    if (needed && !needed->contains(project.names[i])) continue;
    pruned.names.push_back(project.names[i]);
    pruned.expressions.push_back(project.expressions[i]);
    for (auto& column : project.expressions[i].Columns()) used.insert(std::move(column));
  }
  ARROW_ASSIGN_OR_RAISE(auto input, Prune(plan->inputs[0], used));
  if (pruned.names.size() == project.names.size()) {
    return WithInputs(plan, {std::move(input)});
  }
  return MakeNode(std::move(pruned), {std::move(input)});
}

arrow::Result<Plan> PruneAggregate(const Plan& plan) {
  const auto& aggregate = plan->as<AggregateNode>();
  std::set<std::string> used(aggregate.keys.begin(), aggregate.keys.end());
  for (const auto& one : aggregate.aggregates) {
    if (one.column) used.insert(*one.column);
  }
  return PruneInputs(plan, used);
}

arrow::Result<Plan> PruneJoin(const Plan& plan, const Needed& needed) {
  const auto& join = plan->as<JoinNode>();
  ARROW_ASSIGN_OR_RAISE(auto left, OutputSchema(*plan->inputs[0]));
  ARROW_ASSIGN_OR_RAISE(auto right, OutputSchema(*plan->inputs[1]));
  if (!needed || left == nullptr || right == nullptr) {
    return PruneInputs(plan, std::nullopt);
  }
  // Columns of equal name stay on both sides: suffixes depend on the clash.
  auto side = [&](const arrow::Schema& own, const arrow::Schema& other,
                  const std::vector<std::string>& keys) {
    std::set<std::string> used(keys.begin(), keys.end());
    for (const auto& name : own.field_names()) {
      if (needed->contains(name) || other.GetFieldIndex(name) >= 0) used.insert(name);
    }
    return used;
  };
  ARROW_ASSIGN_OR_RAISE(auto pruned_left,
                        Prune(plan->inputs[0], side(*left, *right, join.left_keys)));
  ARROW_ASSIGN_OR_RAISE(auto pruned_right,
                        Prune(plan->inputs[1], side(*right, *left, join.right_keys)));
  return WithInputs(plan, {std::move(pruned_left), std::move(pruned_right)});
}

/// Both inputs must end up with the same columns, so each selects exactly the needed.
arrow::Result<Plan> PruneUnion(const Plan& plan, const Needed& needed) {
  ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*plan));
  if (!needed || schema == nullptr) return PruneInputs(plan, std::nullopt);
  std::vector<Plan> inputs;
  for (const auto& input : plan->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto input_schema, OutputSchema(*input));
    ProjectNode exact;
    for (const auto& name : schema->field_names()) {
      if (!needed->contains(name) || input_schema->GetFieldIndex(name) < 0) continue;
      exact.names.push_back(name);
      exact.expressions.push_back(col(name));
    }
    ARROW_ASSIGN_OR_RAISE(auto pruned, Prune(input, needed));
    inputs.push_back(MakeNode(std::move(exact), {std::move(pruned)}));
  }
  return WithInputs(plan, std::move(inputs));
}

arrow::Result<Plan> Prune(const Plan& plan, const Needed& needed) {
  switch (plan->kind()) {
    case NodeKind::kScan:
      return PruneScan(plan, needed);
    case NodeKind::kLiteral:
    case NodeKind::kStageInput:
      return plan;
    case NodeKind::kProject:
      return PruneProject(plan, needed);
    case NodeKind::kFilter:
      return PruneInputs(plan, With(needed, plan->as<FilterNode>().predicate.Columns()));
    case NodeKind::kExchange:
      return PruneInputs(plan, With(needed, plan->as<ExchangeNode>().keys));
    case NodeKind::kSort: {
      std::vector<std::string> keys;
      for (const auto& key : plan->as<SortNode>().keys) keys.push_back(key.column);
      return PruneInputs(plan, With(needed, keys));
    }
    case NodeKind::kSample: {
      const auto& weights = plan->as<SampleNode>().weights;
      if (weights.empty()) return PruneInputs(plan, needed);
      return PruneInputs(plan, With(needed, {weights}));
    }
    case NodeKind::kLimit:
      return PruneInputs(plan, needed);
    case NodeKind::kAggregate:
      return PruneAggregate(plan);
    case NodeKind::kDistinct: {
      const auto& keys = plan->as<DistinctNode>().keys;
      return PruneInputs(plan, keys.empty() ? std::nullopt : With(needed, keys));
    }
    case NodeKind::kJoin:
      return PruneJoin(plan, needed);
    case NodeKind::kUnion:
      return PruneUnion(plan, needed);
    case NodeKind::kCache:
      if (plan->as<CacheNode>().partitions != nullptr) return plan;
      return PruneInputs(plan, std::nullopt);
    case NodeKind::kMapNative:
    case NodeKind::kMapPython:
    case NodeKind::kZip:
      return PruneInputs(plan, std::nullopt);
  }
  return plan;
}

}  // namespace

arrow::Result<Plan> PushDownProjections(const Plan& plan) {
  return Prune(plan, std::nullopt);
}

}  // namespace xshards
