// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/nontemporal_copy.h"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace xshards {

#ifdef __SSE2__

namespace {

// Shorter copies hardly affect the caches.
constexpr size_t kWorthStreaming = 256U << 10U;
constexpr size_t kLine = 64;

}  // namespace

void StreamCopy(uint8_t* to, const uint8_t* from, size_t num_bytes) {
  if (num_bytes >= kWorthStreaming) {
    const size_t head = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
    std::memcpy(to, from, head);
    to += head;
    from += head;
    num_bytes -= head;
    for (; num_bytes >= kLine; to += kLine, from += kLine, num_bytes -= kLine) {
      const auto* source = reinterpret_cast<const __m128i*>(from);
      auto* target = reinterpret_cast<__m128i*>(to);
      const __m128i first = _mm_loadu_si128(source);
      const __m128i second = _mm_loadu_si128(source + 1);
      const __m128i third = _mm_loadu_si128(source + 2);
      const __m128i fourth = _mm_loadu_si128(source + 3);
      _mm_stream_si128(target, first);
      _mm_stream_si128(target + 1, second);
      _mm_stream_si128(target + 2, third);
      _mm_stream_si128(target + 3, fourth);
    }
    _mm_sfence();  // streaming stores are not ordered with the store that publishes them
  }
  std::memcpy(to, from, num_bytes);
}

#else

void StreamCopy(uint8_t* to, const uint8_t* from, size_t num_bytes) {
  std::memcpy(to, from, num_bytes);
}

#endif

}  // namespace xshards
