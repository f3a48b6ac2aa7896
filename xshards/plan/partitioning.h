// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How rows lie in partitions: each in the one of `num_partitions` that the hash of its
/// `keys` says.
struct Partitioning {
  std::vector<std::string> keys;
  int num_partitions = 0;

  bool operator==(const Partitioning&) const = default;
};

/// How the rows of a plan's output lie, as far as the plan tells.
XSHARDS_EXPORT std::optional<Partitioning> PartitioningOf(const PlanNode& plan);

/// True if an Exchange would leave every row of its input where it is.
XSHARDS_EXPORT bool MovesNothing(const ExchangeNode& exchange, const PlanNode& input);

/// True if rows of equal `keys` are in one partition of a plan's output already.
XSHARDS_EXPORT bool AreTogether(const PlanNode& plan,
                                const std::vector<std::string>& keys);

/// True if an Aggregate may group the rows of each partition of its input by itself.
XSHARDS_EXPORT bool GroupsInPlace(const AggregateNode& aggregate, const PlanNode& input);

}  // namespace xshards
