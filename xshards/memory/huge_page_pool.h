// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "xshards/export.h"

namespace xshards {

/// Large blocks of memory, kept when they are freed: the first touch of a fresh page
/// costs ten times a write to one that was written before. Blocks are cut from areas of
/// huge pages. Thread-safe; all blocks are freed before it ends.
class XSHARDS_EXPORT WarmBlocks {
 public:
  /// Smaller blocks are not for this: what is rounded up would count.
  static constexpr int64_t kMinBlockBytes = 64LL << 10;

  WarmBlocks() = default;
  ~WarmBlocks();
  WarmBlocks(const WarmBlocks&) = delete;
  WarmBlocks& operator=(const WarmBlocks&) = delete;

  /// A block of at least so many bytes, aligned to a page; nullptr if the system has
  /// none.
  uint8_t* Allocate(int64_t num_bytes);
  /// Change a block's size where it lies; false if what is behind it is in use.
  bool Resize(uint8_t* block, int64_t old_bytes, int64_t new_bytes);
  /// Take a block back, and give free pages to the system while more than `max_idle`
  /// bytes of them are kept: those that are free for longest, as others are of sizes that
  /// are asked for now; whole huge pages if that will do, as what is left of others would
  /// be small ones from then on.
  void Free(uint8_t* block, int64_t num_bytes, int64_t max_idle);

  /// The bytes of free blocks that still have their pages.
  int64_t idle_bytes() const { return idle_bytes_.load(std::memory_order_relaxed); }
  /// Give the pages of all free blocks back to the system; returns their bytes.
  int64_t ReleaseIdle();

 private:
  struct Area {
    int64_t num_bytes = 0;
    int64_t used_bytes = 0;
    uint8_t* top = nullptr;  // what is above it was never given out
  };
  struct Extent {
    int64_t num_bytes = 0;
    int64_t warm_bytes = 0;  // that may have pages
    uint64_t freed_at = 0;   // by the clock; that of the last block that it is made of
  };
  using Areas = std::map<uint8_t*, Area>;
  using Extents = std::map<uint8_t*, Extent>;
  /// Free extents, those first that are free for longest.
  using ByAge = std::set<std::pair<uint64_t, uint8_t*>>;

  // All of these are called with mutex_ held.
  Areas::iterator AreaOf(uint8_t* block);
  Areas::iterator AddArea(int64_t num_bytes);
  uint8_t* TakeFree(int64_t num_bytes);
  uint8_t* TakeFresh(int64_t num_bytes);
  void Insert(uint8_t* start, Extent extent);
  void Erase(Extents::iterator place);
  /// Add to the free extents what a block gives back.
  void Return(uint8_t* start, int64_t num_bytes);
  /// The one that extents like this are listed in.
  ByAge& AgesOf(uint8_t* start, const Extent& extent);
  void ReleaseHugePages(Extents::iterator place);
  /// Give an extent's pages back, and its area if nothing else is in it.
  Extents::iterator Release(Extents::iterator place);

  std::mutex mutex_;  // guards all below
  Areas areas_;
  Extents free_;
  std::set<std::pair<int64_t, uint8_t*>> free_by_size_;
  ByAge huge_by_age_;  // that may have the pages of whole huge ones
  ByAge rest_by_age_;
  uint64_t clock_ = 0;
  std::atomic<int64_t> idle_bytes_{0};
};

}  // namespace xshards
