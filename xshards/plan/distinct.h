// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// Which of equal rows a name keeps: first, last or none. Invalid names any other.
XSHARDS_EXPORT arrow::Result<Keep> KeepFromName(const std::string& name);

// Distinct rows, by the positions of the rows to keep: only keys and positions move
// between partitions, in parallel, and each partition then filters its own rows.

/// A position is the number of a partition and that of a row in it; positions have the
/// order of the dataset's rows.
inline constexpr int kPositionRowBits = 40;
constexpr int64_t FirstPosition(int32_t partition) {
  return int64_t{partition} << kPositionRowBits;
}

/// The column of positions, next to the keys and alone; no user's column has its name.
inline constexpr char kPositionColumn[] = "__position";

/// True if a Distinct is made by positions. Where rows are equal in all columns, and
/// reading them again means reading files again, the distinct rows are held instead.
XSHARDS_EXPORT bool IsMadeByPosition(const DistinctNode& distinct, const PlanNode& input);

}  // namespace xshards
