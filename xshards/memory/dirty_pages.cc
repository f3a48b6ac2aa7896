// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/dirty_pages.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace xshards {

namespace {

// One 64-bit entry per page, see "pagemap" in the kernel's documentation.
constexpr uint64_t kPresent = 1ULL << 63;
constexpr uint64_t kSwapped = 1ULL << 62;
constexpr uint64_t kOfFile = 1ULL << 61;

bool IsTouched(uint64_t entry) {
  // A page never accessed has no entry; one only read belongs to the file. Only private
  // copies are anonymous or swapped out.
  if ((entry & kSwapped) != 0) return true;
  return (entry & kPresent) != 0 && (entry & kOfFile) == 0;
}

}  // namespace

TouchedPages::TouchedPages() : fd_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

TouchedPages::~TouchedPages() {
  if (fd_ >= 0) close(fd_);
}

arrow::Result<std::vector<TouchedPages::Run>> TouchedPages::Find(const void* begin,
                                                                 int64_t length) const {
  if (fd_ < 0) return arrow::Status::IOError("Cannot open /proc/self/pagemap");
  std::vector<Run> runs;
  const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(begin);
  uintptr_t page = address / page_size;
  const uintptr_t last =
      (address + static_cast<uintptr_t>(length) + page_size - 1) / page_size;
  std::array<uint64_t, 8192> entries;
  while (page < last) {
    const size_t wanted = std::min<size_t>(last - page, entries.size());
    const ssize_t count = pread(fd_, entries.data(), wanted * sizeof(uint64_t),
                                static_cast<off_t>(page * sizeof(uint64_t)));
    if (count < 0 && errno == EINTR) continue;
    const size_t read = count < 0 ? 0 : static_cast<size_t>(count) / sizeof(uint64_t);
    if (read == 0) {
      return arrow::Status::IOError("Cannot read /proc/self/pagemap: ",
                                    std::strerror(errno));
    }
    for (size_t i = 0; i < read; ++i, ++page) {
      if (!IsTouched(entries[i])) continue;
      if (runs.empty() || runs.back().end != page * page_size) {
        runs.push_back({.begin = page * page_size, .end = page * page_size});
      }
      runs.back().end += page_size;
    }
  }
  return runs;
}

}  // namespace xshards
