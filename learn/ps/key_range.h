// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learn/ps/region/parameter_layout.h"
#include "xshards/export.h"

namespace xshards::learn {

/// Keys are byte positions in the flat parameter vector; a range is [begin, end).
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const KeyRange&) const = default;
};

/// A slice of one parameter that fits into the first-level cache with its gradient: the
/// unit of work. Blocks depend on the layout only, not on the number of owners, so that
/// sums over a block are the same whichever owner computes them.
struct Block {
  int32_t parameter = 0;
  int64_t offset = 0;  // bytes from the start of the vector, a multiple of 64
  int64_t count = 0;   // elements, at least 1
};

inline constexpr int64_t kBlockBytes = 16 * 1024;

/// Cut every parameter into blocks of at most kBlockBytes, in the order of their keys.
XSHARDS_EXPORT std::vector<Block> CutIntoBlocks(const ParameterLayout& layout);

/// Divide the keys among `num_owners` into contiguous ranges of nearly equal size. Ranges
/// begin and end between blocks, cover all keys and may be empty.
XSHARDS_EXPORT std::vector<KeyRange> SplitKeys(const ParameterLayout& layout,
                                               std::span<const Block> blocks,
                                               int num_owners);

/// The blocks whose keys lie in a range from SplitKeys.
XSHARDS_EXPORT std::span<const Block> BlocksIn(std::span<const Block> blocks,
                                               KeyRange range);

}  // namespace xshards::learn
