// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/huge_page_pool.h"

#include <algorithm>
#include <iterator>
#include <sys/mman.h>
#include <utility>

#include "xshards/memory/huge_pages.h"

namespace xshards {

namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kAreaBytes = 64LL << 20;

int64_t RoundUp(int64_t num_bytes, int64_t unit) {
  return (num_bytes + unit - 1) / unit * unit;
}

/// Where the complete huge pages of a byte range begin and end, relative to its start.
std::pair<int64_t, int64_t> HugePagesAmong(const uint8_t* start, int64_t num_bytes) {
  const auto first = reinterpret_cast<int64_t>(start);
  const int64_t begin = RoundUp(first, kHugePage) - first;
  const int64_t end = (first + num_bytes) / kHugePage * kHugePage - first;
  return {begin, std::max(begin, end)};
}

}  // namespace

WarmBlocks::~WarmBlocks() {
  for (const auto& [start, area] : areas_) {
    munmap(start, static_cast<size_t>(area.num_bytes));
  }
}

uint8_t* WarmBlocks::Allocate(int64_t num_bytes) {
  num_bytes = RoundUp(num_bytes, kPageBytes);
  std::lock_guard lock(mutex_);
  uint8_t* block = TakeFree(num_bytes);
  if (block == nullptr) block = TakeFresh(num_bytes);
  if (block != nullptr) AreaOf(block)->second.used_bytes += num_bytes;
  return block;
}

bool WarmBlocks::Resize(uint8_t* block, int64_t old_bytes, int64_t new_bytes) {
  old_bytes = RoundUp(old_bytes, kPageBytes);
  new_bytes = RoundUp(new_bytes, kPageBytes);
  if (old_bytes == new_bytes) return true;
  std::lock_guard lock(mutex_);
  Area& area = AreaOf(block)->second;
  uint8_t* const end = block + old_bytes;
  const int64_t more = new_bytes - old_bytes;
  if (more < 0) {
    Return(block + new_bytes, -more);
  } else if (end == area.top) {
    const auto place = AreaOf(block);
    if (place->first + area.num_bytes - end < more) return false;
    area.top += more;
  } else {
    const auto next = free_.find(end);
    if (next == free_.end() || next->second.num_bytes < more) return false;
    const Extent found = next->second;
    Erase(next);
    const int64_t left = found.num_bytes - more;
    // Which pages of an extent are warm is not known: assume those at its end.
    if (left > 0) {
      Insert(end + more, {left, std::min(left, found.warm_bytes), found.freed_at});
    }
  }
  area.used_bytes += more;
  return true;
}

void WarmBlocks::Free(uint8_t* block, int64_t num_bytes, int64_t max_idle) {
  num_bytes = RoundUp(num_bytes, kPageBytes);
  std::lock_guard lock(mutex_);
  AreaOf(block)->second.used_bytes -= num_bytes;
  Return(block, num_bytes);
  while (idle_bytes() > max_idle && !huge_by_age_.empty()) {
    ReleaseHugePages(free_.find(huge_by_age_.begin()->second));
  }
  while (idle_bytes() > max_idle && !rest_by_age_.empty()) {
    Release(free_.find(rest_by_age_.begin()->second));
  }
}

int64_t WarmBlocks::ReleaseIdle() {
  std::lock_guard lock(mutex_);
  const int64_t before = idle_bytes();
  for (auto extent = free_.begin(); extent != free_.end();) extent = Release(extent);
  return before - idle_bytes();
}

WarmBlocks::Areas::iterator WarmBlocks::AreaOf(uint8_t* block) {
  return std::prev(areas_.upper_bound(block));
}

WarmBlocks::Areas::iterator WarmBlocks::AddArea(int64_t num_bytes) {
  num_bytes = std::max(kAreaBytes, RoundUp(num_bytes, kHugePage));
  void* const memory =
      MapForHugePages(num_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return areas_.end();
  auto* const start = static_cast<uint8_t*>(memory);
  // Without huge pages in the system, small ones are used.
  static_cast<void>(madvise(start, static_cast<size_t>(num_bytes), MADV_HUGEPAGE));
  return areas_.insert({start, Area{.num_bytes = num_bytes, .top = start}}).first;
}

uint8_t* WarmBlocks::TakeFree(int64_t num_bytes) {
  const auto best = free_by_size_.lower_bound({num_bytes, nullptr});
  if (best == free_by_size_.end()) return nullptr;
  uint8_t* const block = best->second;
  const auto place = free_.find(block);
  const Extent found = place->second;
  Erase(place);
  const int64_t left = found.num_bytes - num_bytes;
  // Which pages of an extent are warm is not known: assume those at its end.
  if (left > 0) {
    Insert(block + num_bytes, {left, std::min(left, found.warm_bytes), found.freed_at});
  }
  return block;
}

uint8_t* WarmBlocks::TakeFresh(int64_t num_bytes) {
  auto place = std::find_if(areas_.begin(), areas_.end(), [&](const auto& entry) {
    const auto& [start, area] = entry;
    return start + area.num_bytes - area.top >= num_bytes;
  });
  if (place == areas_.end()) place = AddArea(num_bytes);
  if (place == areas_.end()) return nullptr;
  uint8_t* const block = place->second.top;
  place->second.top += num_bytes;
  return block;
}

WarmBlocks::ByAge& WarmBlocks::AgesOf(uint8_t* start, const Extent& extent) {
  const auto [begin, end] = HugePagesAmong(start, extent.num_bytes);
  const int64_t others = extent.num_bytes - (end - begin);
  return extent.warm_bytes > others ? huge_by_age_ : rest_by_age_;
}

void WarmBlocks::Insert(uint8_t* start, Extent extent) {
  free_.insert({start, extent});
  free_by_size_.insert({extent.num_bytes, start});
  if (extent.warm_bytes > 0) AgesOf(start, extent).insert({extent.freed_at, start});
  idle_bytes_ += extent.warm_bytes;
}

void WarmBlocks::Erase(Extents::iterator place) {
  const auto [start, extent] = *place;
  free_by_size_.erase({extent.num_bytes, start});
  if (extent.warm_bytes > 0) AgesOf(start, extent).erase({extent.freed_at, start});
  idle_bytes_ -= extent.warm_bytes;
  free_.erase(place);
}

void WarmBlocks::Return(uint8_t* start, int64_t num_bytes) {
  Extent extent{.num_bytes = num_bytes, .warm_bytes = num_bytes, .freed_at = ++clock_};
  const auto area = AreaOf(start);
  const auto next = free_.find(start + num_bytes);
  if (next != free_.end() && next->first < area->second.top) {
    extent.num_bytes += next->second.num_bytes;
    extent.warm_bytes += next->second.warm_bytes;
    Erase(next);
  }
  const auto following = free_.lower_bound(start);
  if (following != free_.begin()) {
    const auto before = std::prev(following);
    if (before->first >= area->first &&
        before->first + before->second.num_bytes == start) {
      start = before->first;
      extent.num_bytes += before->second.num_bytes;
      extent.warm_bytes += before->second.warm_bytes;
      Erase(before);
    }
  }
  Insert(start, extent);
}

void WarmBlocks::ReleaseHugePages(Extents::iterator place) {
  auto [start, extent] = *place;
  const auto [begin, end] = HugePagesAmong(start, extent.num_bytes);
  static_cast<void>(
      madvise(start + begin, static_cast<size_t>(end - begin), MADV_DONTNEED));
  Erase(place);
  extent.warm_bytes = std::min(extent.warm_bytes, extent.num_bytes - (end - begin));
  Insert(start, extent);
}

WarmBlocks::Extents::iterator WarmBlocks::Release(Extents::iterator place) {
  auto [start, extent] = *place;
  const auto area = AreaOf(start);
  if (area->second.used_bytes == 0) {
    // Nothing is in use, so this extent spans from the area's start to its top.
    munmap(area->first, static_cast<size_t>(area->second.num_bytes));
    const auto next = std::next(place);
    Erase(place);
    areas_.erase(area);
    return next;
  }
  const auto next = std::next(place);
  if (extent.warm_bytes > 0) {
    static_cast<void>(
        madvise(start, static_cast<size_t>(extent.num_bytes), MADV_DONTNEED));
    Erase(place);
    extent.warm_bytes = 0;
    Insert(start, extent);
  }
  return next;
}

}  // namespace xshards
