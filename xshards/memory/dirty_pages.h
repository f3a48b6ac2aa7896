// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards {

/// Finds the pages of a private mapping that this process has written to: the kernel has
/// made copies of those. Used by one thread.
class XSHARDS_EXPORT TouchedPages {
 public:
  /// A run of whole pages, by address.
  struct Run {
    uintptr_t begin = 0;
    uintptr_t end = 0;
  };

  TouchedPages();
  ~TouchedPages();
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  /// The touched pages that overlap a range of a private mapping, in order. IOError if
  /// the system does not provide this.
  arrow::Result<std::vector<Run>> Find(const void* begin, int64_t length) const;

 private:
  int fd_;
};

}  // namespace xshards
