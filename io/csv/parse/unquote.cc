// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/unquote.h"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace xshards::io {
namespace {

constexpr size_t kStep = 32;

#ifdef __SSE2__

/// Copy kStep bytes; bit i of the result says whether byte i is the quote. Every x86-64
/// has these instructions, so this needs no run-time dispatch.
class Copier {
 public:
  explicit Copier(char quote) : quote_(_mm_set1_epi8(quote)) {}

  uint32_t Copy(const char* from, char* to) const {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), high);
    return Quotes(low) | Quotes(high) << 16;
  }

 private:
  uint32_t Quotes(__m128i bytes) const {
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote_)));
  }

  const __m128i quote_;
};

#else

class Copier {
 public:
  explicit Copier(char quote) : quote_(quote) {}

  uint32_t Copy(const char* from, char* to) const {
    std::memcpy(to, from, kStep);
    uint32_t quotes = 0;
    for (uint32_t i = 0; i < kStep; ++i) {
      quotes |= uint32_t{from[i] == quote_} << i;
    }
    return quotes;
  }

 private:
  const char quote_;
};

#endif

}  // namespace

char* CopyUnquotedBaseline(const char* field, size_t size, char quote, char* out) {
  const Copier copier(quote);
  const char* at = field + 1;
  const char* const end = field + size;
  while (at < end) {
    const uint32_t quotes = copier.Copy(at, out);
    if (quotes == 0) {
      at += kStep;
      out += kStep;
      continue;
    }
    const int before = __builtin_ctz(quotes);
    at += before;
    out += before;
    if (at >= end) break;
    if (end - at > 1 && at[1] == quote) {
      // The first of the two is already copied.
      at += 2;
      out += 1;
      continue;
    }
    const auto left = static_cast<size_t>(end - at - 1);
    if (left > 0) std::memcpy(out, at + 1, left);
    return out + left;
  }
  // Full steps may go past the end of both the field and the copy.
  return out - (at - end);
}

CopyUnquoted CsvUnquoter([[maybe_unused]] CsvTarget target) {
#ifdef __x86_64__
  if (target == CsvTarget::kAvx512) return CopyUnquotedAvx512;
#endif
  return CopyUnquotedBaseline;
}

}  // namespace xshards::io
