// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace xshards::io {

// Numbers as pandas.read_csv reads them. The Read functions accept what it accepts,
// blanks and signs included; the Quick ones, for loops over columns, accept only common
// forms and leave the rest to the former. All floats are correctly rounded.

enum class IntegerText : uint8_t { kNotInteger, kInt64, kUInt64, kHuge };

/// Read an integer. kInt64 and kUInt64 (only too large for int64) set `bits`; kHuge are
/// digits that fit neither.
IntegerText ReadInteger(std::string_view text, uint64_t* bits);
/// Read a float: digits, point, exponent, inf or infinity. False if it is not one.
bool ReadFloat(std::string_view text, double* value);

/// The text without leading and trailing blanks (C's isspace).
std::string_view TrimBlanks(std::string_view text);

/// The number of bytes before a field that the Quick functions may read.
inline constexpr int64_t kNumberPadding = 16;

/// Eight bytes of text, the first lowest.
inline uint64_t LoadWord(const char* text) {
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

inline bool AreDigits(uint64_t word) {
  return (((word + 0x4646464646464646) | (word - 0x3030303030303030)) &
          0x8080808080808080) == 0;
}

/// The value of eight digits.
inline uint64_t DigitsValue(uint64_t word) {
  word -= 0x3030303030303030;
  word = word * 10 + (word >> 8);
  return (((word & 0x000000FF000000FF) * 0x000F424000000064) +
          (((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

/// The last `size` (1 to 8) bytes before `end`, with zeros in front.
inline uint64_t LoadTail(const char* end, uint32_t size) {
  const uint64_t in_front = (uint64_t{1} << (8 * (8 - size))) - 1;
  return (LoadWord(end - 8) & ~in_front) | (0x3030303030303030 & in_front);
}

/// Read an integer of 1 to 16 digits, with or without a minus sign.
inline bool QuickInteger(const char* begin, const char* end, int64_t* value) {
  const int64_t negative = *begin == '-' ? 1 : 0;
  const auto size = static_cast<uint32_t>(end - begin - negative);
  uint64_t digits = 0;
  if (size - 1 < 8) {
    const uint64_t word = LoadTail(end, size);
    if (!AreDigits(word)) return false;
    digits = DigitsValue(word);
  } else if (size - 9 < 8) {
    const uint64_t high = LoadTail(end - 8, size - 8);
    const uint64_t low = LoadWord(end - 8);
    if (!AreDigits(high) || !AreDigits(low)) return false;
    digits = DigitsValue(high) * 100000000 + DigitsValue(low);
  } else {
    return false;
  }
  *value = (static_cast<int64_t>(digits) ^ -negative) + negative;
  return true;
}

/// 10^0 to 10^22, which doubles hold exactly.
inline constexpr std::array<double, 23> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// The high bit of each byte that is a point.
inline uint64_t Points(uint64_t word) {
  const uint64_t differing = word ^ 0x2E2E2E2E2E2E2E2E;
  return ~(((differing & 0x7F7F7F7F7F7F7F7F) + 0x7F7F7F7F7F7F7F7F) | differing |
           0x7F7F7F7F7F7F7F7F);
}

/// Read a float of more than 16 characters and at most 19 digits, without exponent.
bool QuickLongFloat(const char* begin, const char* end, double* value);

/// Read a float without exponent.
inline bool QuickFloat(const char* begin, const char* end, double* value) {
  const bool negative = *begin == '-';
  begin += negative ? 1 : 0;
  const auto size = static_cast<uint32_t>(end - begin);
  uint64_t digits = 0;
  uint32_t decimals = 0;
  if (size - 1 < 8) {
    uint64_t word = LoadTail(end, size);
    if (const uint64_t points = Points(word); points != 0) {
      if (size == 1) return false;
      // Remove the point: the bytes before it move up by one, after a zero.
      const auto at = static_cast<uint32_t>(__builtin_ctzll(points)) & ~7U;
      const uint64_t before = word & ((uint64_t{1} << at) - 1);
      const uint64_t following = word & (~uint64_t{0xFF} << at);
      word = following | before << 8 | 0x30;
      decimals = 7 - at / 8;
    }
    if (!AreDigits(word)) return false;
    digits = DigitsValue(word);
  } else if (size - 9 < 8) {
    uint64_t high = LoadTail(end - 8, size - 8);
    uint64_t low = LoadWord(end - 8);
    if (const uint64_t points = Points(low); points != 0) {
      const auto at = static_cast<uint32_t>(__builtin_ctzll(points)) & ~7U;
      const uint64_t before = low & ((uint64_t{1} << at) - 1);
      low = (low & (~uint64_t{0xFF} << at)) | before << 8 | high >> 56;
      high = high << 8 | 0x30;
      decimals = 7 - at / 8;
    } else if (const uint64_t earlier = Points(high); earlier != 0) {
      const auto at = static_cast<uint32_t>(__builtin_ctzll(earlier)) & ~7U;
      const uint64_t before = high & ((uint64_t{1} << at) - 1);
      high = (high & (~uint64_t{0xFF} << at)) | before << 8 | 0x30;
      decimals = 15 - at / 8;
    }
    if (!AreDigits(high) || !AreDigits(low)) return false;
    digits = DigitsValue(high) * 100000000 + DigitsValue(low);
  } else {
    return size > 16 && QuickLongFloat(begin - (negative ? 1 : 0), end, value);
  }
  // With a point there are at most 15 digits: both operands are exact, so the division
  // rounds once. Without, the conversion rounds once.
  const double magnitude = static_cast<double>(digits) / kPowersOfTen[decimals];
  *value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace xshards::io
