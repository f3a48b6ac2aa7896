// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#include <immintrin.h>

#include "io/csv/parse/tokenizer_internal.h"
#include "io/csv/parse/unquote.h"

namespace xshards::io {

/// 64 bytes at a time, without branches on the position of quotes: surplus ones are
/// removed by one instruction. For well-formed fields only, with paired quotes and one at
/// the end; other fields go to the baseline.
char* CopyUnquotedAvx512(const char* field, size_t size, char quote, char* out) {
  if (size < 2 || field[size - 1] != quote) {
    return CopyUnquotedBaseline(field, size, quote, out);
  }
  const __m512i quotes_like = _mm512_set1_epi8(quote);
  char* to = out;
  uint64_t open = 0;  // all ones after the first quote of a pair
  const size_t end = size - 1;
  for (size_t at = 1; at < end; at += 64) {
    const __m512i bytes = _mm512_loadu_si512(field + at);
    const uint64_t inside = end - at >= 64 ? ~uint64_t{0} : ~(~uint64_t{0} << (end - at));
    const uint64_t quotes = _mm512_cmpeq_epi8_mask(bytes, quotes_like) & inside;
    const uint64_t parity = PrefixParity(quotes) ^ open;
    const uint64_t seconds = quotes & ~parity;
    const uint64_t behind_first = (quotes & parity) << 1 | (open & 1);
    if (((behind_first ^ seconds) & inside) != 0) {
      return CopyUnquotedBaseline(field, size, quote, out);
    }
    open = 0 - (parity >> 63);
    const uint64_t kept = inside & ~seconds;
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, bytes));
    to += __builtin_popcountll(kept);
  }
  return open == 0 ? to : CopyUnquotedBaseline(field, size, quote, out);
}

}  // namespace xshards::io

#endif  // __x86_64__
