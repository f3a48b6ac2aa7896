// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/algorithm.h"

#include "xshards/plan/distinct.h"
#include "xshards/plan/partitioning.h"

namespace xshards {

namespace {

AlgorithmChoice ForExchange(const PlanNode& plan) {
  const auto& node = plan.as<ExchangeNode>();
  if (MovesNothing(node, *plan.inputs[0])) {
    return {Algorithm::kExchangeElided, "input is already partitioned this way"};
  }
  switch (node.mode) {
    case ExchangeMode::kHash:
      return {Algorithm::kHashExchange, "rows of equal keys go to the same partition"};
    case ExchangeMode::kRange:
      return {Algorithm::kRangeExchange,
              "rows next to each other in key order go to the same partition"};
    case ExchangeMode::kRoundRobin:
      return {Algorithm::kBalancedExchange,
              "rows are counted first, so that partitions get equal numbers"};
    case ExchangeMode::kGather:
      break;
  }
  return {Algorithm::kGather, "a single output partition is requested"};
}

AlgorithmChoice ForAggregate(const PlanNode& plan) {
  const auto& node = plan.as<AggregateNode>();
  if (GroupsInPlace(node, *plan.inputs[0])) {
    return {Algorithm::kAggregateInPlace, "input is already partitioned by the keys"};
  }
  const char* exchange = node.ordered
                             ? "gathered, because groups are ordered by first appearance"
                         : node.keys.empty() ? "gathered, because there is one group"
                                             : "hash exchange by the keys";
  return {Algorithm::kTwoPhaseAggregate,
          std::string("each partition is aggregated first, so that only partial results "
                      "move; ") +
              exchange};
}

AlgorithmChoice ForDistinct(const PlanNode& plan) {
  if (IsMadeByPosition(plan.as<DistinctNode>(), *plan.inputs[0])) {
    return {Algorithm::kDistinctByPosition,
            "keys and positions are partitioned by the hash of the keys; then each "
            "partition filters its own rows"};
  }
  return {Algorithm::kTwoPhaseDistinct,
          "each partition drops its own duplicates first, so that only distinct rows "
          "move; gathered, because rows are ordered by appearance"};
}

AlgorithmChoice ForSample(const SampleNode& node) {
  if (node.replace) {
    return {Algorithm::kSampleByRowNumber,
            "rows are counted first; each partition makes all draws and keeps those that "
            "hit its rows, so the result depends only on the seed"};
  }
  const std::string keys =
      "rows are ordered by a hash of seed and row number, and the first are drawn, so "
      "the result depends only on the seed";
  return {Algorithm::kSampleByKey,
          node.weights.empty()
              ? keys
              : keys + "; the keys are gathered, because they depend on the weights"};
}

}  // namespace

const char* ToString(Algorithm algorithm) {
  static constexpr const char* kNames[kNumAlgorithms] = {"exchange elided",
                                                         "hash exchange",
                                                         "hash exchange in the workers",
                                                         "range exchange",
                                                         "balanced exchange",
                                                         "gather",
                                                         "aggregation in place",
                                                         "two-phase aggregation",
                                                         "distinct rows by position",
                                                         "two-phase distinct",
                                                         "range sort",
                                                         "sort in place",
                                                         "top rows",
                                                         "first rows",
                                                         "sample by row number",
                                                         "sample by key",
                                                         "hash join",
                                                         "broadcast hash join",
                                                         "partitioned hash join",
                                                         "join in parts",
                                                         "cross join"};
  return kNames[static_cast<int>(algorithm)];
}

std::string AlgorithmChoice::ToString() const {
  return std::string(xshards::ToString(algorithm)) + ": " + reason;
}

AlgorithmChoice ChooseAlgorithm(const PlanNode& node) {
  switch (node.kind()) {
    case NodeKind::kAggregate:
      return ForAggregate(node);
    case NodeKind::kDistinct:
      return ForDistinct(node);
    case NodeKind::kSort:
      return {
          Algorithm::kRangeSort,
          "rows are partitioned into ranges of about equal size, chosen from a sample "
          "of the keys, and each partition is sorted"};
    case NodeKind::kSample:
      return ForSample(node.as<SampleNode>());
    case NodeKind::kLimit:
      return {Algorithm::kFirstRows,
              "a few partitions are computed at a time until there are enough rows"};
    default:
      return ForExchange(node);
  }
}

const char* ToString(Decision decision) {
  static constexpr const char* kNames[kNumDecisions] = {
      "nothing",
      "the columns that the function gives",
      "the partitions of the cache",
      "whether all results have the keys in one type",
      "the build side and the algorithm of the join",
      "whether there are enough rows",
      "which rows are drawn",
      "whether the rows are already sorted",
      "whether the partitions are sorted",
      "the number of partitions for the keys",
      "whether most rows are kept",
      "which rows are kept"};
  return kNames[static_cast<int>(decision)];
}

}  // namespace xshards
