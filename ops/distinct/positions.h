// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/executors.h"

namespace xshards::ops {

// Which row of each key is the first, the last or the only one. All that is held of a key
// is one number, its position (see plan/distinct.h):
//
//   partial_distinct.cc  kPartialPositions: rows of a partition that may be kept
//   final_distinct.cc    kFinalPositions: those that are, or those that are not

/// Holds a bounded number of keys.
OpenedNode OpenPartialPositions(const PlanNode& node, BatchStreams inputs,
                                OperatorContext& context);
/// Holds all keys of its partition.
OpenedNode OpenFinalPositions(const PlanNode& node, BatchStreams inputs,
                              OperatorContext& context);

/// A position that is none: rows of this key are more than one, so Keep::kNone drops
/// them.
inline constexpr int64_t kNoPosition = -1;

}  // namespace xshards::ops
