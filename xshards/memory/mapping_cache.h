// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "xshards/export.h"
#include "xshards/type_fwd.h"

namespace xshards {

/// Writable mappings of the pages of memory segments, kept so that writing to a segment
/// that comes back costs a copy and nothing else: a write call takes more than twice as
/// long, and so does touching every page of a new mapping for the first time.
///
/// They pin no memory: the owner of a segment cuts it to nothing before it lets go of it
/// (see SegmentPool). Nothing is read through them. Used by one thread.
class XSHARDS_EXPORT WarmMappings {
 public:
  WarmMappings() = default;
  ~WarmMappings();
  WarmMappings(const WarmMappings&) = delete;
  WarmMappings& operator=(const WarmMappings&) = delete;

  /// The pages that a segment has, mapped and present, until the next call; empty if they
  /// are too few to be worth it, or cannot be mapped.
  std::span<uint8_t> Map(const Segment& segment);
  size_t size() const { return mappings_.size(); }

 private:
  struct Mapping {
    std::span<uint8_t> pages;
    uint64_t last_use = 0;
  };
  void DropStale();

  // By the number of the memfd's inode, which no other has while it is mapped.
  std::map<uint64_t, Mapping> mappings_;
  uint64_t num_uses_ = 0;
};

}  // namespace xshards
