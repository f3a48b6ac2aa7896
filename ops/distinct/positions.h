// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "xshards/plan/plan.h"

namespace xshards::ops {

// The aggregates first_position, last_position and single_position of kAllRows: which row
// of each key is the first, the last or the only one. They have executors of their own,
// as all that is known of a group is one number:
//
//   local_positions.cc  kPartial: rows of a partition that may be it, with positions
//   final_positions.cc  kFinal: the positions of those that are it, or of the others

enum class WantedRow : uint8_t { kFirst, kLast, kSingle };

/// True if an Aggregate gives positions and nothing else.
bool GivesPositions(const AggregateNode& node);
WantedRow WantedBy(const AggregateNode& node);

/// The name of the column of positions between the phases.
inline constexpr char kPositionState[] = "__position_state";
/// A position that is none: rows of this key are more than one, and none is single.
inline constexpr int64_t kNoPosition = -1;

}  // namespace xshards::ops
