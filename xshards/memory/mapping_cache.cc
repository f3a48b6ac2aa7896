// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/mapping_cache.h"

#include <algorithm>
#include <sys/mman.h>
#include <sys/stat.h>

#include "xshards/memory/segment.h"

namespace xshards {

namespace {

// Below this a mapping costs more than it saves.
constexpr int64_t kWorthMapping = 256LL << 10;
constexpr size_t kMaxMappings = 64;
// A mapping unused for this many calls belongs to a segment that will not return.
constexpr uint64_t kMaxAge = 256;

void Unmap(std::span<uint8_t> pages) { munmap(pages.data(), pages.size()); }

}  // namespace

WarmMappings::~WarmMappings() {
  for (const auto& [inode, mapping] : mappings_) Unmap(mapping.pages);
}

std::span<uint8_t> WarmMappings::Map(const Segment& segment) {
  struct stat status{};
  if (segment.kind() != SegmentKind::kMemory || fstat(segment.fd(), &status) != 0 ||
      status.st_size < kWorthMapping) {
    return {};
  }
  ++num_uses_;
  auto& mapping = mappings_[status.st_ino];
  mapping.last_use = num_uses_;
  const auto size = static_cast<size_t>(status.st_size);
  if (mapping.pages.size() != size) {
    if (!mapping.pages.empty()) Unmap(mapping.pages);
    void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         segment.fd(), 0);
    if (address == MAP_FAILED) {
      mappings_.erase(status.st_ino);
      return {};
    }
    mapping.pages = {static_cast<uint8_t*>(address), size};
  }
  const auto pages = mapping.pages;
  DropStale();
  return pages;
}

void WarmMappings::DropStale() {
  std::erase_if(mappings_, [this](const auto& entry) {
    const bool stale = num_uses_ - entry.second.last_use > kMaxAge;
    if (stale) Unmap(entry.second.pages);
    return stale;
  });
  while (mappings_.size() > kMaxMappings) {
    auto oldest = std::min_element(
        mappings_.begin(), mappings_.end(),
        [](auto& a, auto& b) { return a.second.last_use < b.second.last_use; });
    Unmap(oldest->second.pages);
    mappings_.erase(oldest);
  }
}

}  // namespace xshards
