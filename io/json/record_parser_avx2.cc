// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#include <cstdint>
#include <immintrin.h>

#include "io/json/record_parser.h"

namespace xshards::io {
namespace {

struct Vector {
  static constexpr int kBytes = 32;

  static __m256i Load(const char* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  // How many bytes come before a quote, a backslash or a control character.
  static int Count(__m256i bytes) {
    const __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    const __m256i escapes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    const __m256i controls = _mm256_cmpeq_epi8(
        _mm256_max_epu8(bytes, _mm256_set1_epi8(0x1F)), _mm256_set1_epi8(0x1F));
    const auto found = static_cast<uint32_t>(_mm256_movemask_epi8(
        _mm256_or_si256(_mm256_or_si256(quotes, escapes), controls)));
    return found == 0 ? kBytes : __builtin_ctz(found);
  }
  static int CountPlain(const char* p) { return Count(Load(p)); }
  static int CopyPlain(const char* from, char* to) {
    const __m256i bytes = Load(from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    return Count(bytes);
  }
  static bool Matches(const char* p, const char* literal, uint32_t mask) {
    const auto same = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(Load(p), Load(literal))));
    return (~same & mask) == 0;
  }
};

}  // namespace
}  // namespace xshards::io

#include "io/json/record_parser_internal.h"

namespace xshards::io {

JsonRecordLoop Avx2RecordLoop() { return RunRecordLoop; }

}  // namespace xshards::io

#endif  // __x86_64__
