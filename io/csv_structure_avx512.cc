// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#include <immintrin.h>

#include "io/csv_structure_internal.h"
#include "io/csv_structure_targets_internal.h"

namespace xshards::io {
namespace {

class Avx512Bytes {
 public:
  explicit Avx512Bytes(const uint8_t* text) : bytes_(_mm512_loadu_si512(text)) {}

  uint64_t Equal(uint8_t byte) const {
    return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8(static_cast<char>(byte)));
  }
  uint64_t HighBits() const { return _mm512_movepi8_mask(bytes_); }

 private:
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
