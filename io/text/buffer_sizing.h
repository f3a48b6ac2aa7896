// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/buffer.h>

namespace xshards::io {

// How columns of text files fill the memory that they ask for. Allocators have size
// classes, four to a doubling, and mimalloc, Arrow's default, has them in huge pages (2
// MB): what a buffer leaves of its class is in use all the same. On flights this was 17
// %.

/// The largest number of rows up to `wanted` whose values of 8 bytes, or offsets, fill a
/// size class that leaves no gaps in a page: a power of two, less what allocators add to
/// a request for the sake of alignment.
int64_t PackedRows(int64_t wanted);

/// How much to ask for to hold `size` bytes of text: all that an allocator would take for
/// it, so that what is left can be given back.
int64_t PackedBytes(int64_t size);

/// Give the memory behind the first `used` bytes of a buffer back to the system. It stays
/// part of the buffer, and is zero when it is read again.
void GiveBackTail(arrow::ResizableBuffer* buffer, int64_t used);

}  // namespace xshards::io
