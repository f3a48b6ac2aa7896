// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "xshards/export.h"

namespace xshards {

// How rows are drawn at random: the result depends only on a seed and the global row
// numbers, never on partitions, threads or the order in which they run.

/// A row's key in the order of drawing; the smallest are drawn. Ties are broken by row.
struct DrawOrder {
  uint64_t key = 0;
  int64_t row = 0;

  auto operator<=>(const DrawOrder&) const = default;
};

/// Greater than every row.
inline constexpr DrawOrder kDrawAll = {std::numeric_limits<uint64_t>::max(),
                                       std::numeric_limits<int64_t>::max()};

/// A number for a row, or for the i-th draw: unique for a seed.
XSHARDS_EXPORT uint64_t DrawKey(uint64_t seed, int64_t index);
/// The same as a fraction, 0 <= fraction < 1.
XSHARDS_EXPORT double DrawFraction(uint64_t seed, int64_t index);
/// The i-th row drawn of `num_rows`, with replacement.
XSHARDS_EXPORT int64_t DrawRow(uint64_t seed, int64_t index, int64_t num_rows);
/// The key of a row with a weight: heavier rows tend to come first, as if rows were drawn
/// one by one in proportion to weight. Rows of weight 0 come last.
XSHARDS_EXPORT uint64_t WeightedDrawKey(uint64_t seed, int64_t row, double weight);

/// The first of `num_rows` rows of equal weight that is not among the `count` drawn.
/// Needs little memory, whatever the number.
XSHARDS_EXPORT DrawOrder FirstNotDrawn(uint64_t seed, int64_t num_rows, int64_t count);

}  // namespace xshards
