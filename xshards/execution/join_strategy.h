// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How a join is run.
struct JoinChoice {
  bool hold_all = false;    // hold one whole side in memory, move nothing
  bool build_left = false;  // the side that is held is the left
  std::string reason;       // for explain(), as "algorithm: why"
};

/// Choose by the size of the inputs in bytes and of the memory budget. Negative: not
/// known, as before anything has run.
XSHARDS_EXPORT JoinChoice ChooseJoin(const JoinNode& join, int64_t left_bytes,
                                     int64_t right_bytes, int64_t memory_bytes);

/// A side of a join.
struct JoinSide {
  size_t num_partitions = 0;
  int64_t num_bytes = 0;
};

/// How many partitions both sides are cut into: as many as the larger has, and more only
/// where the side that is held would not fit.
XSHARDS_EXPORT int32_t NumJoinPartitions(const JoinNode& join, const JoinSide& left,
                                         const JoinSide& right, int64_t memory_bytes);

/// Into how many parts, joined one after the other, each of `num_partitions` is cut, so
/// that the table of what is held of one is in cache.
XSHARDS_EXPORT int32_t NumJoinParts(const JoinNode& join, const JoinSide& left,
                                    const JoinSide& right, int32_t num_partitions);

}  // namespace xshards
