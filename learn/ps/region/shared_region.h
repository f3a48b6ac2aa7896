// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/export.h"
#include "xshards/memory/memory_budget.h"

namespace xshards::learn {

/// Memory of a fixed size that several processes map and write in place. It is a memfd:
/// it has no name and is freed with the last process that maps it, however that ends.
/// (xshards::Segment is written once by one process; this is written repeatedly by all.)
class XSHARDS_EXPORT SharedRegion {
 public:
  /// Make a region of zeros, mapped writable. Its bytes are charged to `budget`, which
  /// may be null.
  static arrow::Result<std::shared_ptr<SharedRegion>> Create(
      int64_t size, std::shared_ptr<MemoryBudget> budget);
  /// Map the region of a descriptor from another process, read-only until AllowWrites().
  /// The descriptor is duplicated: the caller keeps its own.
  static arrow::Result<std::shared_ptr<SharedRegion>> Open(int fd);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  int fd() const { return fd_; }
  int64_t size() const { return size_; }
  std::byte* data() const { return data_; }

  /// Make whole pages of an opened region writable.
  arrow::Status AllowWrites(int64_t offset, int64_t length);

  static int64_t PageSize();
  static int64_t AlignToPage(int64_t bytes);

 private:
  SharedRegion(int fd, int64_t size, std::byte* data,
               std::shared_ptr<MemoryBudget> budget);

  const int fd_;
  const int64_t size_;
  std::byte* const data_;
  const std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace xshards::learn
