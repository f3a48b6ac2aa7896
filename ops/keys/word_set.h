// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// A set of words of fixed capacity: open addressing, at most half full, one word per
/// slot, so that twice as many words as in any other table fit a core's cache.
class WordSet {
 public:
  explicit WordSet(size_t most)
      : slots_(std::bit_ceil(2 * most + 2), kEmpty),
        shift_(64 - std::countr_zero(slots_.size())) {}

  /// False if it is already a member.
  bool Add(uint64_t word) {
    if (word == kEmpty) {
      const bool is_new = !has_empty_;
      has_empty_ = true;
      return is_new;
    }
    size_t at = HashOf(word) >> shift_;
    while (slots_[at] != kEmpty) {
      if (slots_[at] == word) return false;
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = word;
    return true;
  }

  int64_t num_bytes() const {
    return static_cast<int64_t>(slots_.capacity() * sizeof(uint64_t));
  }

 private:
  // This word marks empty slots; a flag says whether it is itself a member.
  static constexpr uint64_t kEmpty = 0x9E3779B97F4A7C15;

  // Not the hash by which rows are partitioned: words of one partition have some of its
  // bits in common.
  static uint64_t HashOf(uint64_t word) {
    const auto product =
        static_cast<unsigned __int128>(word ^ 0xD6E8FEB86659FD93) * 0xA0761D6478BD642F;
    return (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) *
           0xE7037ED1A0B428DB;
  }

  ScratchVector<uint64_t> slots_;
  int shift_;  // of a hash, to the slot where a word is looked for first
  bool has_empty_ = false;
};

}  // namespace xshards::ops
