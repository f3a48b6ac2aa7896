// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/algorithm_note.h"

#include "xshards/plan/distinct.h"
#include "xshards/plan/partitioning.h"

namespace xshards {

namespace {

std::string ExchangeNote(const PlanNode& plan) {
  const auto& node = plan.as<ExchangeNode>();
  if (MovesNothing(node, *plan.inputs[0])) {
    return "exchange elided: input is already partitioned this way";
  }
  switch (node.mode) {
    case ExchangeMode::kHash:
      return "hash exchange: rows of equal keys go to the same partition";
    case ExchangeMode::kRange:
      return "range exchange: rows next to each other in key order go to the same "
             "partition";
    case ExchangeMode::kRoundRobin:
      return "balanced exchange: rows are counted first, so that partitions get equal "
             "numbers";
    case ExchangeMode::kGather:
      return "gather: a single output partition is requested";
  }
  return "";
}

std::string AggregateNote(const PlanNode& plan) {
  const auto& node = plan.as<AggregateNode>();
  if (GroupsInPlace(node, *plan.inputs[0])) {
    return "aggregation in place: input is already partitioned by the keys";
  }
  const std::string two_phases =
      "two-phase aggregation: each partition is aggregated first, so that only partial "
      "results move; ";
  if (node.ordered) {
    return two_phases + "gathered, because groups are ordered by first appearance";
  }
  if (node.keys.empty()) {
    return two_phases + "gathered, because there is one group";
  }
  return two_phases + "hash exchange by the keys";
}

std::string DistinctNote(const PlanNode& plan) {
  if (IsMadeByPosition(plan.as<DistinctNode>(), *plan.inputs[0])) {
    return "distinct rows by position: keys and positions are partitioned by the hash of "
           "the keys; then each partition filters its own rows";
  }
  return "two-phase distinct: each partition drops its own duplicates first, so that "
         "only distinct rows move; gathered, because rows are ordered by appearance";
}

std::string SampleNote(const SampleNode& node) {
  if (node.replace) {
    return "sample by row number: rows are counted first; each partition makes all draws "
           "and keeps those that hit its rows, so the result depends only on the seed";
  }
  const std::string keys =
      "sample by key: rows are ordered by a hash of seed and row number, and the first "
      "are drawn, so the result depends only on the seed";
  return node.weights.empty()
             ? keys
             : keys + "; the keys are gathered, because they depend on the weights";
}

}  // namespace

std::string AlgorithmNote(const PlanNode& node) {
  switch (node.kind()) {
    case NodeKind::kExchange:
      return ExchangeNote(node);
    case NodeKind::kAggregate:
      return AggregateNote(node);
    case NodeKind::kDistinct:
      return DistinctNote(node);
    case NodeKind::kSort:
      return "range sort: rows are partitioned into ranges of about equal size, chosen "
             "from a sample of the keys, and each partition is sorted";
    case NodeKind::kSample:
      return SampleNote(node.as<SampleNode>());
    case NodeKind::kLimit:
      return "first rows: a few partitions are computed at a time until there are enough "
             "rows";
    default:
      return "";
  }
}

}  // namespace xshards
