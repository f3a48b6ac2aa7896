// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#include <immintrin.h>

#include "io/csv/parse/tokenizer_internal.h"
#include "io/csv/parse/tokenizer_targets_internal.h"

namespace xshards::io {
namespace {

class Avx2Bytes {
 public:
  explicit Avx2Bytes(const uint8_t* text)
      : low_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text))),
        high_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + 32))) {}

  uint64_t Equal(uint8_t byte) const {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(byte));
    return Mask(_mm256_cmpeq_epi8(low_, wanted), _mm256_cmpeq_epi8(high_, wanted));
  }
  uint64_t HighBits() const { return Mask(low_, high_); }

  static uint32_t* WritePlaces(uint64_t bits, uint32_t base, uint32_t* out) {
    const int count = __builtin_popcountll(bits);
    int written = 0;
    // At least four, so that the branch on more is rarely taken.
    do {
      for (int i = 0; i < 4; ++i) {
        out[written++] = base + static_cast<uint32_t>(_tzcnt_u64(bits));
        bits &= bits - 1;
      }
    } while (written < count);
    return out + count;
  }

 private:
  static uint64_t Mask(__m256i low, __m256i high) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
           uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(high))} << 32;
  }

  __m256i low_;
  __m256i high_;
};

}  // namespace

void FindCsvFieldsAvx2(const uint8_t* text, int64_t size, CsvMarks marks,
                       CsvFieldEnds* out) {
  FindFields<Avx2Bytes>(text, size, marks, out);
}

void SkipCsvQuotesAvx2(const uint8_t* text, int64_t size, CsvMarks marks,
                       CsvQuoteState* state) {
  SkipQuotes<Avx2Bytes>(text, size, marks, state);
}

}  // namespace xshards::io

#endif  // __x86_64__
