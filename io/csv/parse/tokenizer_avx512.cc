// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's, of its own headers
#endif
#include <immintrin.h>

#include "io/csv/parse/tokenizer_internal.h"
#include "io/csv/parse/tokenizer_targets_internal.h"

namespace xshards::io {
namespace {

class Avx512Bytes {
 public:
  explicit Avx512Bytes(const uint8_t* text) : bytes_(_mm512_loadu_si512(text)) {}

  uint64_t Equal(uint8_t byte) const {
    return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8(static_cast<char>(byte)));
  }
  uint64_t HighBits() const { return _mm512_movepi8_mask(bytes_); }

  static uint32_t* WritePlaces(uint64_t bits, uint32_t base, uint32_t* out) {
    const int count = __builtin_popcountll(bits);
    const __m512i places = _mm512_maskz_compress_epi8(bits, Numbers());
    WriteSixteen(_mm512_castsi512_si128(places), base, out);
    if (count > 16) {
      WriteSixteen(_mm512_extracti32x4_epi32(places, 1), base, out + 16);
      WriteSixteen(_mm512_extracti32x4_epi32(places, 2), base, out + 32);
      WriteSixteen(_mm512_extracti32x4_epi32(places, 3), base, out + 48);
    }
    return out + count;
  }

 private:
  static __m512i Numbers() {
    return _mm512_set_epi64(0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928,
                            0x2726252423222120, 0x1F1E1D1C1B1A1918, 0x1716151413121110,
                            0x0F0E0D0C0B0A0908, 0x0706050403020100);
  }
  static void WriteSixteen(__m128i places, uint32_t base, uint32_t* out) {
    const __m512i bases = _mm512_set1_epi32(static_cast<int>(base));
    const __m512i wide = _mm512_cvtepu8_epi32(places);
    _mm512_storeu_si512(out, _mm512_add_epi32(wide, bases));
  }

  __m512i bytes_;
};

}  // namespace

void FindCsvFieldsAvx512(const uint8_t* text, int64_t size, CsvMarks marks,
                         CsvFieldEnds* out) {
  FindFields<Avx512Bytes>(text, size, marks, out);
}

void SkipCsvQuotesAvx512(const uint8_t* text, int64_t size, CsvMarks marks,
                         CsvQuoteState* state) {
  SkipQuotes<Avx512Bytes>(text, size, marks, state);
}

}  // namespace xshards::io

#endif  // __x86_64__
