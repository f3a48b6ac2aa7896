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
  /// Smaller blocks are not allocated here: rounding up would waste too much.
  static constexpr int64_t kMinBlockBytes = 64LL << 10;

  WarmBlocks() = default;
  ~WarmBlocks();
  WarmBlocks(const WarmBlocks&) = delete;
  WarmBlocks& operator=(const WarmBlocks&) = delete;

  /// A block of at least `num_bytes`, aligned to a page; nullptr if the system has none.
  uint8_t* Allocate(int64_t num_bytes);
  /// Resize a block in place; false if the memory after it is in use.
  bool Resize(uint8_t* block, int64_t old_bytes, int64_t new_bytes);
  /// Free a block, and return free pages to the system while more than `max_idle` bytes
  /// of them are kept: those free for longest first, since recently freed ones have sizes
  /// in current use; complete huge pages if these suffice, since returning part of one
  /// splits the rest into small pages.
  void Free(uint8_t* block, int64_t num_bytes, int64_t max_idle);

  /// The bytes of free blocks that still have their pages.
  int64_t idle_bytes() const { return idle_bytes_.load(std::memory_order_relaxed); }
  /// Return the pages of all free blocks to the system; gives their bytes.
  int64_t ReleaseIdle();

 private:
  struct Area {
    int64_t num_bytes = 0;
    int64_t used_bytes = 0;
    uint8_t* top = nullptr;  // memory above it was never allocated
  };
  struct Extent {
    int64_t num_bytes = 0;
    int64_t warm_bytes = 0;  // bytes that may have pages
    uint64_t freed_at = 0;   // clock value of the last block merged into it
  };
  using Areas = std::map<uint8_t*, Area>;
  using Extents = std::map<uint8_t*, Extent>;
  /// Free extents, those free for longest first.
  using ByAge = std::set<std::pair<uint64_t, uint8_t*>>;

  // All of these are called with mutex_ held.
  Areas::iterator AreaOf(uint8_t* block);
  Areas::iterator AddArea(int64_t num_bytes);
  uint8_t* TakeFree(int64_t num_bytes);
  uint8_t* TakeFresh(int64_t num_bytes);
  void Insert(uint8_t* start, Extent extent);
  void Erase(Extents::iterator place);
  /// Add a freed block to the free extents.
  void Return(uint8_t* start, int64_t num_bytes);
  /// The list that holds extents like this.
  ByAge& AgesOf(uint8_t* start, const Extent& extent);
  void ReleaseHugePages(Extents::iterator place);
  /// Return an extent's pages, and its area if nothing else is in it.
  Extents::iterator Release(Extents::iterator place);

  std::mutex mutex_;  // guards all below
  Areas areas_;
  Extents free_;
  std::set<std::pair<int64_t, uint8_t*>> free_by_size_;
  ByAge huge_by_age_;  // extents that may hold complete huge pages
  ByAge rest_by_age_;
  uint64_t clock_ = 0;
  std::atomic<int64_t> idle_bytes_{0};
};

}  // namespace xshards
