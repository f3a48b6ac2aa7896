// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "xshards/memory/nontemporal_copy.h"
#include "xshards/memory/scratch_vector.h"

/// What loops over values in random places do so that they wait for memory less.
namespace xshards::ops {

// More values than that are not in the second cache.
constexpr size_t kSecondCacheBytes = size_t{1} << 20;
// More than that, with what is worked on beside them, are not in the last cache.
constexpr size_t kLastCacheBytes = size_t{16} << 20;
// Rows that are looked at before their turn, so that what they need comes meanwhile.
constexpr size_t kRowsAhead = 64;

/// Ask for what will be read, in the second cache: as much as the first one can wait for
/// is too little.
inline void ReadAhead(const void* place) { __builtin_prefetch(place, 0, 2); }

/// Write a value past the caches, if it is as wide as that can be done; values that
/// follow each other are put together to lines. Others see them after
/// EndWritesPastCaches().
template <typename T>
void WritePastCaches(T* to, T value) {
#ifdef __SSE2__
  if constexpr (sizeof(T) == sizeof(long long)) {
    return _mm_stream_si64(reinterpret_cast<long long*>(to),
                           static_cast<long long>(value));
  } else if constexpr (sizeof(T) == sizeof(int)) {
    return _mm_stream_si32(reinterpret_cast<int*>(to), static_cast<int>(value));
  }
#endif
  *to = value;
}

inline void EndWritesPastCaches() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Let `put` write `count` values in any order from where it is told. That is `to`, or,
/// if they go `past_caches`, the `stage`, which is in cache and then copied: so lines are
/// not read from memory to be overwritten.
template <typename T, typename Put>
void WriteInAnyOrder(T* to, size_t count, bool past_caches, ScratchVector<uint8_t>& stage,
                     Put&& put) {
  if (!past_caches || count * sizeof(T) > kSecondCacheBytes) return put(to);
  stage.resize(count * sizeof(T));
  put(reinterpret_cast<T*>(stage.data()));
  StreamCopy(reinterpret_cast<uint8_t*>(to), stage.data(), stage.size());
}

}  // namespace xshards::ops
