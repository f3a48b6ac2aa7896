// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "xshards/memory/nontemporal_copy.h"
#include "xshards/memory/scratch_vector.h"

/// Prefetching and non-temporal stores for loops with random access to memory.
namespace xshards::ops {

// More bytes of values than this exceed the second-level cache.
constexpr size_t kSecondCacheBytes = size_t{1} << 20;
// More than this exceed the last-level cache, together with the other data in use.
constexpr size_t kLastCacheBytes = size_t{16} << 20;
// How many rows ahead to prefetch.
constexpr size_t kRowsAhead = 64;

/// Prefetch data to read into the second-level cache: the first level has too few
/// outstanding misses.
inline void ReadAhead(const void* place) { __builtin_prefetch(place, 0, 2); }

/// Write a value past the caches (a non-temporal store) if its width allows that;
/// consecutive values are combined to cache lines. Other threads see them after
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

/// Let `put` write `count` values in any order to the address it is given. That is `to`,
/// or, with `past_caches`, `stage`, which stays in cache and is then copied with
/// non-temporal stores, so that lines are not read from memory only to be overwritten.
template <typename T, typename Put>
void WriteInAnyOrder(T* to, size_t count, bool past_caches, ScratchVector<uint8_t>& stage,
                     Put&& put) {
  if (!past_caches || count * sizeof(T) > kSecondCacheBytes) return put(to);
  stage.resize(count * sizeof(T));
  put(reinterpret_cast<T*>(stage.data()));
  StreamCopy(reinterpret_cast<uint8_t*>(to), stage.data(), stage.size());
}

}  // namespace xshards::ops
