// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "xshards/export.h"

namespace xshards {

/// What one entry of the processor's page tables maps at most, a multiple of any page.
inline constexpr int64_t kHugePage = int64_t{2} << 20;

/// mmap to an address that is as far from a huge page's begin as `offset` is, without
/// which the kernel maps small pages. Gives MAP_FAILED with errno set, as mmap does.
XSHARDS_EXPORT void* MapForHugePages(int64_t size, int protection, int flags, int fd,
                                     int64_t offset);

/// Have the kernel keep the whole huge pages among these bytes of a memfd as such.
///
/// An update goes over all of its memory once: with small pages it would wait for the
/// page tables. This is about speed only: where the kernel can't or won't, nothing is
/// different.
XSHARDS_EXPORT void UseHugePages(std::byte* data, int64_t size);

}  // namespace xshards
