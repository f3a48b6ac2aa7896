// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "xshards/export.h"
#include "xshards/type_fwd.h"

namespace xshards {

/// Writable mappings of the pages of memory segments, kept so that writing to a recycled
/// segment costs only a copy: a write call takes more than twice as long, and so does
/// touching every page of a new mapping for the first time.
///
/// They pin no memory: the owner truncates a segment to 0 bytes before it closes it (see
/// SegmentPool). Nothing is read through them. Used by one thread.
class XSHARDS_EXPORT WarmMappings {
 public:
  WarmMappings() = default;
  ~WarmMappings();
  WarmMappings(const WarmMappings&) = delete;
  WarmMappings& operator=(const WarmMappings&) = delete;

  /// The segment's pages, mapped and present, valid until the next call; empty if they
  /// are too few to be worth it, or cannot be mapped.
  std::span<uint8_t> Map(const Segment& segment);
  size_t size() const { return mappings_.size(); }

 private:
  struct Mapping {
    std::span<uint8_t> pages;
    uint64_t last_use = 0;
  };
  void DropStale();

  // By the memfd's inode number, which is unique while it is mapped.
  std::map<uint64_t, Mapping> mappings_;
  uint64_t num_uses_ = 0;
};

}  // namespace xshards
