// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace xshards {

namespace {

#ifdef MADV_COLLAPSE
constexpr int kCollapse = MADV_COLLAPSE;
#else
constexpr int kCollapse = 25;  // since Linux 6.1; before it, madvise fails
#endif

int64_t BytesToHugePage(const std::byte* data) {
  const auto beyond = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data)) % kHugePage;
  return beyond == 0 ? 0 : kHugePage - beyond;
}

}  // namespace

void* MapForHugePages(int64_t size, int protection, int flags, int fd, int64_t offset) {
  // Reserve addresses only, of which the aligned part is used.
  const auto reserved = static_cast<size_t>(size + kHugePage);
  void* area = mmap(nullptr, reserved, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return MAP_FAILED;
  auto* begin = static_cast<std::byte*>(area);
  const int64_t before = (BytesToHugePage(begin) + offset % kHugePage) % kHugePage;
  void* mapped = mmap(begin + before, static_cast<size_t>(size), protection,
                      flags | MAP_FIXED, fd, offset);
  if (mapped == MAP_FAILED) {
    munmap(area, reserved);
    return MAP_FAILED;
  }
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t end = (before + size + page - 1) / page * page;
  if (before > 0) munmap(begin, static_cast<size_t>(before));
  munmap(begin + end, reserved - static_cast<size_t>(end));
  return mapped;
}

void UseHugePages(std::byte* data, int64_t size) {
  std::byte* const begin = data + BytesToHugePage(data);
  const int64_t whole = (data + size - begin) / kHugePage * kHugePage;
  if (whole <= 0) return;
  // The kernel rejects an empty huge page; touching one small page in it suffices.
  for (int64_t at = 0; at < whole; at += kHugePage) {
    auto* byte = reinterpret_cast<volatile unsigned char*>(begin + at);
    *byte = *byte;
  }
  madvise(begin, static_cast<size_t>(whole), kCollapse);
}

}  // namespace xshards
