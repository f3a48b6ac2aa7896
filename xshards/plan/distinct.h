// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

// Distinct rows, by the positions of those to keep: only keys and positions move between
// partitions, all of them at work, and each partition then keeps its own rows.

/// A position is the number of a partition and that of a row in it; they are ordered as
/// the rows of the whole.
inline constexpr int kPositionRowBits = 40;
constexpr int64_t FirstPosition(int32_t partition) {
  return int64_t{partition} << kPositionRowBits;
}

/// True if an Aggregate gives rows of its input as they are, and in their order: the
/// first or the last of each key, or those whose key no other row has.
XSHARDS_EXPORT bool KeepsRows(const AggregateNode& aggregate);

/// True if it does and is made by positions. Where all it gives are the keys, and reading
/// them again means reading files again, groups are held in place of rows.
XSHARDS_EXPORT bool IsMadeByPosition(const AggregateNode& aggregate,
                                     const PlanNode& input);

}  // namespace xshards
