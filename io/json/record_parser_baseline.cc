// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "io/json/record_parser.h"

namespace xshards::io {
namespace {

#ifdef __SSE2__

// 16 bytes, which every x86-64 processor has instructions for.
struct Vector {
  static constexpr int kBytes = 16;

  static __m128i Load(const char* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  // How many bytes come before a quote, a backslash or a control character.
  static int Count(__m128i bytes) {
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i controls =
        _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(0x1F)), _mm_set1_epi8(0x1F));
    const int found =
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), controls));
    return found == 0 ? kBytes : __builtin_ctz(static_cast<unsigned>(found));
  }
  static int CountPlain(const char* p) { return Count(Load(p)); }
  static int CopyPlain(const char* from, char* to) {
    const __m128i bytes = Load(from);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    return Count(bytes);
  }
  static bool Matches(const char* p, const char* literal, uint32_t mask) {
    const auto low =
        static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(Load(p), Load(literal))));
    const auto high = static_cast<uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(Load(p + 16), Load(literal + 16))));
    return (~(low | (high << 16)) & mask) == 0;
  }
};

#else

// The same without vector instructions.
struct Vector {
  static constexpr int kBytes = 8;

  static int CountPlain(const char* p) {
    int run = 0;
    while (run < kBytes && p[run] != '"' && p[run] != '\\' &&
           static_cast<unsigned char>(p[run]) >= 0x20) {
      ++run;
    }
    return run;
  }
  static int CopyPlain(const char* from, char* to) {
    __builtin_memcpy(to, from, kBytes);
    return CountPlain(from);
  }
  static bool Matches(const char* p, const char* literal, uint32_t mask) {
    for (; mask != 0; mask >>= 1, ++p, ++literal) {
      if (*p != *literal) return false;
    }
    return true;
  }
};

#endif

}  // namespace
}  // namespace xshards::io

#include "io/json/record_parser_internal.h"

namespace xshards::io {

JsonRecordLoop BaselineRecordLoop() { return RunRecordLoop; }

}  // namespace xshards::io
