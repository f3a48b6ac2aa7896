// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/algorithm_note.h"

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
      return "hash exchange: equal keys have equal hashes, so they meet in one partition";
    case ExchangeMode::kRange:
      return "range exchange: neighbours in order must meet in one partition";
    case ExchangeMode::kRoundRobin:
      return "balanced exchange: rows are counted first, so that partitions get equal "
             "numbers";
    case ExchangeMode::kGather:
      return "gather: one partition is asked for";
  }
  return "";
}

std::string AggregateNote(const PlanNode& plan) {
  const auto& node = plan.as<AggregateNode>();
  if (GroupsInPlace(node, *plan.inputs[0])) {
    return "aggregation in place: rows of equal keys are in one partition already";
  }
  if (IsMadeByPosition(node, *plan.inputs[0])) {
    return "distinct rows by position: keys and positions go by the hash of the keys, "
           "each partition then keeps its own rows";
  }
  const std::string two_phases =
      "two-phase aggregation: each partition groups its own rows first, so that only its "
      "groups move; ";
  if (node.ordered) {
    return two_phases + "gathered, as groups come in order of appearance in the whole";
  }
  if (node.keys.empty() && !node.all_columns) {
    return two_phases + "gathered, as all rows are one group";
  }
  return two_phases + "hash exchange by the keys, so that a group ends in one partition";
}

std::string SampleNote(const SampleNode& node) {
  if (node.replace) {
    return "draw by number: rows are counted first; each partition makes all draws and "
           "keeps those that fall on its rows, so the result follows from the seed alone";
  }
  const std::string keys =
      "draw by key: a key of seed and row number orders the rows, of which the first are "
      "drawn, so the result follows from the seed alone";
  return node.weights.empty() ? keys
                              : keys + "; the keys are gathered, as weights are data";
}

}  // namespace

std::string AlgorithmNote(const PlanNode& node) {
  switch (node.kind()) {
    case NodeKind::kExchange:
      return ExchangeNote(node);
    case NodeKind::kAggregate:
      return AggregateNote(node);
    case NodeKind::kSort:
      return "range sort: a sample of the keys gives ranges of about equal size, each of "
             "which is sorted by itself";
    case NodeKind::kSample:
      return SampleNote(node.as<SampleNode>());
    case NodeKind::kLimit:
      return "first rows: partitions are made a few at a time until there are enough";
    default:
      return "";
  }
}

}  // namespace xshards
