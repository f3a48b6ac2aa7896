// SPDX-License-Identifier: Apache-2.0
#include "io/text/buffer_sizing.h"

#include <sys/mman.h>

namespace xshards::io {
namespace {

// Larger objects of mimalloc have their own pages, in slices of this size.
constexpr int64_t kSliceBytes = 64LL << 10;
constexpr int64_t kLargeBytes = 512LL << 10;
// The maximum that is added to a request for alignment.
constexpr int64_t kAddedBytes = 128;
constexpr int64_t kAddedRows = kAddedBytes / static_cast<int64_t>(sizeof(int64_t));
constexpr uintptr_t kPageBytes = 4096;

}  // namespace

int64_t PackedRows(int64_t wanted) {
  int64_t rows = 2 * kAddedRows;
  if (wanted < rows - kAddedRows) return wanted;
  while (rows * 2 - kAddedRows <= wanted) rows *= 2;
  return rows - kAddedRows;
}

int64_t PackedBytes(int64_t size) {
  if (size < kLargeBytes) return size;
  return (size + kAddedBytes + kSliceBytes - 1) / kSliceBytes * kSliceBytes - kAddedBytes;
}

void GiveBackTail(arrow::ResizableBuffer* buffer, int64_t used) {
  const auto begin = reinterpret_cast<uintptr_t>(buffer->mutable_data());
  const uintptr_t from =
      (begin + static_cast<uintptr_t>(used) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uintptr_t to =
      (begin + static_cast<uintptr_t>(buffer->capacity())) / kPageBytes * kPageBytes;
  if (to < from + 4 * kPageBytes) return;  // not worth a system call
  // If this fails, the memory just stays in use.
  madvise(buffer->mutable_data() + (from - begin), to - from, MADV_DONTNEED);
}

}  // namespace xshards::io
