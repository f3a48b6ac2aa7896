// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How rows are partitioned: into `num_partitions` by the hash of their `keys`.
struct Partitioning {
  std::vector<std::string> keys;
  int num_partitions = 0;

  bool operator==(const Partitioning&) const = default;
};

/// How the rows of a plan's output are partitioned, as far as known from the plan.
XSHARDS_EXPORT std::optional<Partitioning> PartitioningOf(const PlanNode& plan);

/// True if an Exchange would leave every row of its input where it is.
XSHARDS_EXPORT bool MovesNothing(const ExchangeNode& exchange, const PlanNode& input);

/// True if a plan's output is already partitioned by `keys`.
XSHARDS_EXPORT bool AreTogether(const PlanNode& plan,
                                const std::vector<std::string>& keys);

/// True if an Aggregate may group each partition of its input separately.
XSHARDS_EXPORT bool GroupsInPlace(const AggregateNode& aggregate, const PlanNode& input);

}  // namespace xshards
