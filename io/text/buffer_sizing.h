// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/buffer.h>

namespace xshards::io {

// How columns of text files fill the memory that they allocate. Allocators have size
// classes, four per power of two, and mimalloc, Arrow's default, keeps them in huge pages
// (2 MB): the unused rest of a buffer's class occupies memory too. For the flights data
// this was 17 %.

/// The largest number of rows up to `wanted` whose values of 8 bytes, or offsets, fill a
/// size class that leaves no gaps in a page: a power of two, less what allocators add to
/// a request for alignment.
int64_t PackedRows(int64_t wanted);

/// The bytes to allocate for `size` bytes of text: all that an allocator would use for
/// it, so that the rest can be returned.
int64_t PackedBytes(int64_t size);

/// Return the memory after the first `used` bytes of a buffer to the system. It stays
/// part of the buffer, and is zero when it is read again.
void GiveBackTail(arrow::ResizableBuffer* buffer, int64_t used);

}  // namespace xshards::io
