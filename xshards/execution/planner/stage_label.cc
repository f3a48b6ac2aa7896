// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/stage_label.h"

namespace xshards {

namespace {

std::string NodeLabel(const PlanNode& node) {
  switch (node.kind()) {
    case NodeKind::kScan:
      return "Scan " + node.as<ScanNode>().format;
    case NodeKind::kLiteral:
      return "Read partitions";
    case NodeKind::kStageInput:
      return Describe(node);
    case NodeKind::kMapPython:
      return "MapPython " + node.as<MapPythonNode>().label;
    case NodeKind::kMapNative: {
      const auto& name = node.as<MapNativeNode>().name;
      return name.empty() ? "MapNative" : "MapNative " + name;
    }
    case NodeKind::kAggregate:
      return node.as<AggregateNode>().phase == AggregatePhase::kPartial
                 ? "Aggregate (partial)"
                 : "Aggregate";
    case NodeKind::kDistinct: {
      const auto phase = node.as<DistinctNode>().phase;
      const bool is_partial = phase == DistinctPhase::kPartialRows ||
                              phase == DistinctPhase::kPartialPositions;
      return is_partial ? "Distinct (partial)" : "Distinct";
    }
    case NodeKind::kJoin:
      return node.as<JoinNode>().shared_table > 0 ? "Join (broadcast)" : "Join";
    case NodeKind::kSort:
      return node.as<SortNode>().limit ? "Top" : "Sort";
    default:
      return ToString(node.kind());
  }
}

std::string SinkLabel(const SinkSpec& sink) {
  switch (sink.kind) {
    case SinkKind::kPublish:
      return "";
    case SinkKind::kPartition:
      return " → partition into " + std::to_string(sink.num_partitions);
    case SinkKind::kWrite:
      return " → write " + sink.format;
    case SinkKind::kCount:
      return " → count";
  }
  return "";
}

std::string TreeLabel(const PlanNode& tree) {
  if (tree.inputs.empty()) return NodeLabel(tree);
  // In a fragment these are equal parts of one partition.
  if (tree.kind() == NodeKind::kUnion) return TreeLabel(*tree.inputs[0]);
  return TreeLabel(*tree.inputs[0]) + " → " + NodeLabel(tree);
}

}  // namespace

std::string StageLabel(const PlanNode& tree, const SinkSpec& sink) {
  return TreeLabel(tree) + SinkLabel(sink);
}

}  // namespace xshards
