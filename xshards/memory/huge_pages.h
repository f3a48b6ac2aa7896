// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "xshards/export.h"

namespace xshards {

/// The largest page that one page table entry maps; a multiple of any page size.
inline constexpr int64_t kHugePage = int64_t{2} << 20;

/// mmap to an address with the same alignment within a huge page as `offset`; otherwise
/// the kernel maps small pages. Returns MAP_FAILED with errno set, as mmap does.
XSHARDS_EXPORT void* MapForHugePages(int64_t size, int protection, int flags, int fd,
                                     int64_t offset);

/// Ask the kernel to back the complete huge pages of this byte range of a memfd by huge
/// pages.
///
/// An update passes over all of its memory once: with small pages it would wait for the
/// page tables. This affects speed only: if the kernel does not comply, results are the
/// same.
XSHARDS_EXPORT void UseHugePages(std::byte* data, int64_t size);

}  // namespace xshards
