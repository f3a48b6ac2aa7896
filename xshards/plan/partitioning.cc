// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/partitioning.h"

#include <algorithm>
#include <utility>

namespace xshards {

namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The name under which a Project forwards a column unchanged.
std::optional<std::string> NameAfter(const ProjectNode& project,
                                     const std::string& column) {
  for (size_t i = 0; i < project.names.size(); ++i) {
    const std::string* name = project.expressions[i].column_name();
    if (name != nullptr && *name == column) return project.names[i];
  }
  const bool stays = project.keep_input && !Contains(project.names, column) &&
                     !Contains(project.drop, column);
  return stays ? std::optional(column) : std::nullopt;
}

std::optional<Partitioning> AfterProject(const ProjectNode& project,
                                         std::optional<Partitioning> input) {
  if (!input) return std::nullopt;
  for (auto& key : input->keys) {
    auto name = NameAfter(project, key);
    if (!name) return std::nullopt;
    key = std::move(*name);
  }
  return input;
}

std::optional<Partitioning> ByHash(const std::vector<std::string>& keys,
                                   int num_partitions) {
  if (num_partitions <= 0) return std::nullopt;
  return Partitioning{keys, num_partitions};
}

}  // namespace

std::optional<Partitioning> PartitioningOf(const PlanNode& plan) {
  switch (plan.kind()) {
    case NodeKind::kExchange: {
      const auto& exchange = plan.as<ExchangeNode>();
      if (exchange.mode != ExchangeMode::kHash) return std::nullopt;
      return ByHash(exchange.keys, NumPartitions(plan));
    }
    case NodeKind::kAggregate: {
      const auto& aggregate = plan.as<AggregateNode>();
      if (aggregate.ordered || aggregate.keys.empty()) return std::nullopt;
      if (GroupsInPlace(aggregate, *plan.inputs[0])) {
        return PartitioningOf(*plan.inputs[0]);
      }
      return ByHash(aggregate.keys, NumPartitions(*plan.inputs[0]));
    }
    case NodeKind::kProject:
      return AfterProject(plan.as<ProjectNode>(), PartitioningOf(*plan.inputs[0]));
    case NodeKind::kFilter:
    case NodeKind::kCache:
      return PartitioningOf(*plan.inputs[0]);
    default:
      return std::nullopt;
  }
}

bool MovesNothing(const ExchangeNode& exchange, const PlanNode& input) {
  if (exchange.mode != ExchangeMode::kHash) return false;
  const auto is = PartitioningOf(input);
  return is && is->keys == exchange.keys &&
         (exchange.num_partitions <= 0 || exchange.num_partitions == is->num_partitions);
}

bool AreTogether(const PlanNode& plan, const std::vector<std::string>& keys) {
  const auto is = PartitioningOf(plan);
  return is && std::all_of(is->keys.begin(), is->keys.end(),
                           [&](const auto& key) { return Contains(keys, key); });
}

bool GroupsInPlace(const AggregateNode& aggregate, const PlanNode& input) {
  // An ordered result is one partition.
  return !aggregate.ordered && !aggregate.keys.empty() &&
         AreTogether(input, aggregate.keys);
}

}  // namespace xshards
