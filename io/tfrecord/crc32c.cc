// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace xshards::io {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78U;  // reflected

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr auto kTable = MakeTable();

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) uint32_t Crc32cByInstruction(std::string_view bytes) {
  uint64_t crc = 0xffffffffU;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), p += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    crc = _mm_crc32_u64(crc, word);
  }
  auto last = static_cast<uint32_t>(crc);
  for (; left > 0; --left, ++p) last = _mm_crc32_u8(last, static_cast<uint8_t>(*p));
  return ~last;
}

#endif

}  // namespace

uint32_t Crc32cByTable(std::string_view bytes) {
  uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xffU] ^ (crc >> 8);
  }
  return ~crc;
}

uint32_t Crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return Crc32cByInstruction(bytes);
#endif
  return Crc32cByTable(bytes);
}

}  // namespace xshards::io
