// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/tokenizer_internal.h"
#include "io/csv/parse/tokenizer_targets_internal.h"

namespace xshards::io {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHigh = 0x8080808080808080;

/// Eight words of eight bytes.
class WordBytes {
 public:
  explicit WordBytes(const uint8_t* text) { __builtin_memcpy(words_, text, 64); }

  uint64_t Equal(uint8_t byte) const {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
      const uint64_t differing = words_[i] ^ (kOnes * byte);
      // The high bit of each byte that is zero.
      const uint64_t zero = ~(((differing & ~kHigh) + ~kHigh) | differing | ~kHigh);
      bits |= Gather(zero) << (8 * i);
    }
    return bits;
  }
  uint64_t HighBits() const {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits |= Gather(words_[i] & kHigh) << (8 * i);
    return bits;
  }

  static uint32_t* WritePlaces(uint64_t bits, uint32_t base, uint32_t* out) {
    for (; bits != 0; bits &= bits - 1) {
      *out++ = base + static_cast<uint32_t>(__builtin_ctzll(bits));
    }
    return out;
  }

 private:
  /// Pack the eight high bits, that of the first byte in memory lowest.
  static uint64_t Gather(uint64_t high_bits) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return ((high_bits >> 7) * 0x0102040810204080) >> 56;
  }

  uint64_t words_[8];
};

}  // namespace

void FindCsvFieldsBaseline(const uint8_t* text, int64_t size, CsvMarks marks,
                           CsvFieldEnds* out) {
  FindFields<WordBytes>(text, size, marks, out);
}

void SkipCsvQuotesBaseline(const uint8_t* text, int64_t size, CsvMarks marks,
                           CsvQuoteState* state) {
  SkipQuotes<WordBytes>(text, size, marks, state);
}

}  // namespace xshards::io
