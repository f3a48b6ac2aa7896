// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/bit_unpack.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace xshards::io {
namespace {

static_assert(std::endian::native == std::endian::little);

uint64_t LoadWord(const uint8_t* data, const uint8_t* end) {
  uint64_t word = 0;
  std::memcpy(&word, data, static_cast<size_t>(std::min<int64_t>(8, end - data)));
  return word;
}

#ifdef __x86_64__

// A number and the bits before it in its first byte must fit into four bytes.
constexpr int kMaxVectorWidth = 25;

/// Unpacks eight numbers at a time, as long as full vectors are before `end`; returns the
/// number unpacked. Eight numbers take `width` bytes, so that all groups of eight begin
/// at the same bit of a byte and need the same shuffle and shifts.
__attribute__((target("avx2"))) int64_t UnpackBitsAvx2(const uint8_t* data,
                                                       const uint8_t* end,
                                                       int64_t first_bit, int width,
                                                       uint32_t* out, int64_t count) {
  alignas(32) uint8_t bytes[32];
  alignas(32) uint32_t shifts[8];
  const uint8_t* in = data + first_bit / 8;
  const int phase = static_cast<int>(first_bit % 8);
  const int high_byte = (phase + 4 * width) / 8;
  for (int i = 0; i < 8; ++i) {
    const int bit = phase + i * width - (i < 4 ? 0 : high_byte * 8);
    for (int j = 0; j < 4; ++j) bytes[i * 4 + j] = static_cast<uint8_t>(bit / 8 + j);
    shifts[i] = static_cast<uint32_t>(bit % 8);
  }
  const __m256i shuffle = _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
  const __m256i shift = _mm256_load_si256(reinterpret_cast<const __m256i*>(shifts));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>((uint32_t{1} << width) - 1));
  int64_t done = 0;
  for (; done + 8 <= count && end - in >= high_byte + 16; done += 8, in += width) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    const __m128i high =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + high_byte));
    const __m256i spread = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), shuffle);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + done),
                        _mm256_and_si256(_mm256_srlv_epi32(spread, shift), mask));
  }
  return done;
}

__attribute__((target("avx2"))) uint32_t LargestOfAvx2(const uint32_t* numbers,
                                                       int64_t count) {
  __m256i largest = _mm256_setzero_si256();
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const auto* const eight = reinterpret_cast<const __m256i*>(numbers + i);
    largest = _mm256_max_epu32(largest, _mm256_loadu_si256(eight));
  }
  alignas(32) uint32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), largest);
  uint32_t result = *std::max_element(lanes, lanes + 8);
  for (; i < count; ++i) result = std::max(result, numbers[i]);
  return result;
}

bool HasAvx2() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2;
}

#endif

}  // namespace

void UnpackBitsBaseline(const uint8_t* data, const uint8_t* end, int64_t first_bit,
                        int width, uint32_t* out, int64_t count) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  int64_t bit = first_bit;
  int64_t i = 0;
  // A number of 32 bits that begins at any bit of a byte fits into eight bytes.
  for (; i < count && end - data >= bit / 8 + 8; ++i, bit += width) {
    uint64_t word;
    std::memcpy(&word, data + bit / 8, sizeof(word));
    out[i] = static_cast<uint32_t>(word >> (bit % 8) & mask);
  }
  for (; i < count; ++i, bit += width) {
    const uint64_t word = LoadWord(data + bit / 8, end);
    out[i] = static_cast<uint32_t>(word >> (bit % 8) & mask);
  }
}

void UnpackBits(const uint8_t* data, const uint8_t* end, int64_t first_bit, int width,
                uint32_t* out, int64_t count) {
  int64_t done = 0;
#ifdef __x86_64__
  if (HasAvx2() && width <= kMaxVectorWidth) {
    done = UnpackBitsAvx2(data, end, first_bit, width, out, count);
  }
#endif
  UnpackBitsBaseline(data, end, first_bit + done * width, width, out + done,
                     count - done);
}

uint32_t LargestOf(const uint32_t* numbers, int64_t count) {
#ifdef __x86_64__
  if (HasAvx2()) return LargestOfAvx2(numbers, count);
#endif
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, numbers[i]);
  return largest;
}

}  // namespace xshards::io
