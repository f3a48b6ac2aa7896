// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How a wide node is run. Part of the codec of stage graphs, so new ones go at the end.
enum class Algorithm : uint8_t {
  kExchangeElided,
  kHashExchange,
  kHashExchangeInWorkers,
  kRangeExchange,
  kBalancedExchange,
  kGather,
  kAggregateInPlace,
  kTwoPhaseAggregate,
  kDistinctByPosition,
  kTwoPhaseDistinct,
  kRangeSort,
  kSortInPlace,
  kTopRows,
  kFirstRows,
  kSampleByRowNumber,
  kSampleByKey,
  kUndecidedJoin,  // it depends on sizes that are not known yet
  kBroadcastJoin,
  kPartitionedJoin,
  kJoinInParts,
  kCrossJoin,
};
inline constexpr int kNumAlgorithms = 21;

/// "hash exchange", "range sort", ...
XSHARDS_EXPORT const char* ToString(Algorithm algorithm);

/// An algorithm and why it was chosen.
struct AlgorithmChoice {
  Algorithm algorithm = Algorithm::kGather;
  std::string reason;

  /// "algorithm: reason".
  XSHARDS_EXPORT std::string ToString() const;
  bool operator==(const AlgorithmChoice&) const = default;
};

/// The algorithm of an exchange, aggregation, distinct, sample, limit or sort by ranges,
/// which need no sizes to be chosen.
XSHARDS_EXPORT AlgorithmChoice ChooseAlgorithm(const PlanNode& node);

/// What the planner decides from the output of a stage. Part of the codec, as above.
enum class Decision : uint8_t {
  kNothing,
  kColumnsOfFunction,
  kPartitionsOfCache,
  kWhetherKeysHaveOneType,
  kJoinAlgorithm,
  kWhetherRowsSuffice,
  kDrawnRows,
  kWhetherRowsAreSorted,
  kWhetherPartitionsAreSorted,
  kNumKeyPartitions,
  kWhetherMostRowsAreKept,
  kKeptRows,
};
inline constexpr int kNumDecisions = 12;

/// In words: "which rows are drawn".
XSHARDS_EXPORT const char* ToString(Decision decision);

}  // namespace xshards
