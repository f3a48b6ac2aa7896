// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How a join is run.
struct JoinChoice {
  bool hold_all = false;    // broadcast: hold one side in memory, move nothing
  bool build_left = false;  // the build side is the left
  AlgorithmChoice algorithm = {};
};

/// Choose by the size of the inputs in bytes and of the memory budget. Negative: unknown,
/// as before anything has run.
XSHARDS_EXPORT JoinChoice ChooseJoin(const JoinNode& join, int64_t left_bytes,
                                     int64_t right_bytes, int64_t memory_bytes);

/// A side of a join.
struct JoinSide {
  size_t num_partitions = 0;
  int64_t num_bytes = 0;
};

/// The number of partitions of both sides: that of the larger, and more only if the build
/// side would not fit in memory.
XSHARDS_EXPORT int32_t NumJoinPartitions(const JoinNode& join, const JoinSide& left,
                                         const JoinSide& right, int64_t memory_bytes);

/// The number of parts, joined one by one, into which each of `num_partitions` is split,
/// so that the table of one part's build rows fits the cache.
XSHARDS_EXPORT int32_t NumJoinParts(const JoinNode& join, const JoinSide& left,
                                    const JoinSide& right, int32_t num_partitions);

}  // namespace xshards
