// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/key_range.h"

#include <algorithm>

namespace xshards::learn {

namespace {

auto FirstBlockAt(std::span<const Block> blocks, int64_t key) {
  return std::ranges::lower_bound(blocks, key, {}, &Block::offset);
}

}  // namespace

std::vector<Block> CutIntoBlocks(const ParameterLayout& layout) {
  std::vector<Block> blocks;
  for (int32_t index = 0; index < layout.num_parameters(); ++index) {
    const Parameter& parameter = layout.parameters()[static_cast<size_t>(index)];
    const int64_t size = SizeOf(parameter.type);
    const int64_t per_block = kBlockBytes / size;
    for (int64_t begin = 0; begin < parameter.count; begin += per_block) {
      blocks.push_back({.parameter = index,
                        .offset = parameter.offset + begin * size,
                        .count = std::min(per_block, parameter.count - begin)});
    }
  }
  std::ranges::sort(blocks, {}, &Block::offset);
  return blocks;
}

std::vector<KeyRange> SplitKeys(const ParameterLayout& layout,
                                std::span<const Block> blocks, int num_owners) {
  std::vector<KeyRange> ranges;
  int64_t begin = 0;
  for (int owner = 1; owner <= num_owners; ++owner) {
    int64_t end = layout.vector_bytes();
    if (owner < num_owners) {
      const int64_t target = layout.vector_bytes() / num_owners * owner;
      const auto block = FirstBlockAt(blocks, target);
      if (block != blocks.end()) end = block->offset;
    }
    ranges.push_back({.begin = begin, .end = end});
    begin = end;
  }
  return ranges;
}

std::span<const Block> BlocksIn(std::span<const Block> blocks, KeyRange range) {
  return {FirstBlockAt(blocks, range.begin), FirstBlockAt(blocks, range.end)};
}

}  // namespace xshards::learn
