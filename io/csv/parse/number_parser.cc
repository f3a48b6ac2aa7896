// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/number_parser.h"

#include <bit>
#include <charconv>
#include <limits>

#include "io/text/ascii.h"

namespace xshards::io {
namespace {

// Extended, as 128 bits are not standard C++.
__extension__ using Wide = unsigned __int128;

constexpr int kMaxDecimals = 27;  // 5^27 is the last to fit 64 bits
constexpr int kMaxDigits = 19;    // 10^19 - 1 fits 64 bits

// C's isspace, independent of the locale.
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// A lower bound of 5^-n: `bits` * 2^exponent is at most 5^-n, by less than 2^exponent;
/// the highest bit is set.
struct InversePower {
  Wide bits = 0;
  int exponent = 0;
};

constexpr InversePower InvertPower(int n) {
  uint64_t power = 1;
  for (int i = 0; i < n; ++i) power *= 5;
  // Long division of 1, bit by bit, to 128 bits.
  InversePower inverse;
  Wide remainder = 1;
  while ((inverse.bits >> 127) == 0) {
    inverse.bits <<= 1;
    if (remainder >= power) {
      inverse.bits |= 1;
      remainder -= power;
    }
    remainder <<= 1;
    --inverse.exponent;
  }
  ++inverse.exponent;  // the first digit was that of 2^0
  return inverse;
}

constexpr std::array<InversePower, kMaxDecimals + 1> kInversePowers = [] {
  std::array<InversePower, kMaxDecimals + 1> powers{};
  for (int n = 1; n <= kMaxDecimals; ++n) {
    powers[static_cast<size_t>(n)] = InvertPower(n);
  }
  return powers;
}();

/// digits / 10^decimals, correctly rounded, for decimals of 1 to 27; false if 128 bits do
/// not determine the rounding. The result is never subnormal: it is at least 1e-27.
bool Divide(uint64_t digits, int decimals, double* value) {
  if (digits == 0) {
    *value = 0;
    return true;
  }
  const InversePower& inverse = kInversePowers[static_cast<size_t>(decimals)];
  const int shift = std::countl_zero(digits);
  const uint64_t normal = digits << shift;
  // The upper 128 bits of the product of 192. The true quotient is at least that and less
  // than 2 units more: one for the error of the inverse, one for the lower 64 bits.
  const Wide low = Wide{normal} * static_cast<uint64_t>(inverse.bits);
  const Wide product = Wide{normal} * static_cast<uint64_t>(inverse.bits >> 64) +
                       static_cast<uint64_t>(low >> 64);
  const int leading = (product >> 127) != 0 ? 0 : 1;
  const int dropped = 128 - leading - 53;
  const Wide rest = product & ((Wide{1} << dropped) - 1);
  const Wide half = Wide{1} << (dropped - 1);
  if (rest == half || rest == half - 1) return false;
  auto mantissa = static_cast<uint64_t>(product >> dropped);
  if (rest > half) ++mantissa;
  // 10^-n is 5^-n * 2^-n.
  const int exponent = inverse.exponent + 64 + dropped - shift - decimals;
  // Exact: 53 bits and an exponent far from both limits.
  *value = static_cast<double>(mantissa) *
           std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  return true;
}

/// The parts of [+-](digits[.digits]|.digits)[e[+-]digits].
bool LooksLikeFloat(std::string_view text) {
  size_t at = 0;
  const auto skip_digits = [&] {
    const size_t begin = at;
    while (at < text.size() && IsAsciiDigit(text[at])) ++at;
    return at - begin;
  };
  size_t digits = skip_digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return skip_digits() > 0 && at == text.size();
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

/// The value of a number out of range of doubles: 0 or infinity.
double BeyondRange(std::string_view text) {
  const size_t mark = text.find_first_of("eE");
  const bool is_small = mark == std::string_view::npos
                            ? text.substr(0, text.find('.')).find_first_not_of('0') ==
                                  std::string_view::npos
                            : text.substr(mark + 1).starts_with('-');
  return is_small ? 0.0 : std::numeric_limits<double>::infinity();
}

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

IntegerText ReadInteger(std::string_view text, uint64_t* bits) {
  text = TrimBlanks(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return IntegerText::kNotInteger;
  uint64_t value = 0;
  bool overflows = false;
  for (const char c : text) {
    if (!IsAsciiDigit(c)) return IntegerText::kNotInteger;
    overflows = overflows || __builtin_mul_overflow(value, uint64_t{10}, &value) ||
                __builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value);
  }
  constexpr uint64_t kLimit = uint64_t{1} << 63;
  if (overflows || (negative && value > kLimit)) return IntegerText::kHuge;
  *bits = negative ? ~value + 1 : value;
  return !negative && value >= kLimit ? IntegerText::kUInt64 : IntegerText::kInt64;
}

bool ReadFloat(std::string_view text, double* value) {
  text = TrimBlanks(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  double magnitude = 0;
  if (LooksLikeFloat(text)) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), magnitude);
    if (read.ec == std::errc::result_out_of_range) {
      magnitude = BeyondRange(text);
    } else if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
      return false;
    }
  } else if (EqualsIgnoringCase(text, "inf") || EqualsIgnoringCase(text, "infinity")) {
    magnitude = std::numeric_limits<double>::infinity();
  } else {
    return false;
  }
  *value = negative ? -magnitude : magnitude;
  return true;
}

bool QuickLongFloat(const char* begin, const char* end, double* value) {
  const bool negative = *begin == '-';
  const char* at = begin + (negative ? 1 : 0);
  while (at != end && *at == '0') ++at;
  const char* first = at;  // the first significant digit
  uint64_t digits = 0;
  const auto take_digits = [&] {
    while (end - at >= 8 && AreDigits(LoadWord(at))) {
      digits = digits * 100000000 + DigitsValue(LoadWord(at));
      at += 8;
    }
    for (; at != end && IsAsciiDigit(*at); ++at) {
      digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    }
  };
  take_digits();
  int64_t count = at - first;
  if (at == end || *at != '.') return false;
  const char* const point = at++;
  if (count == 0) {
    while (at != end && *at == '0') ++at;
    first = at;
  } else {
    first = at - count;
  }
  take_digits();
  count = at - first;
  const auto decimals = static_cast<int>(end - point - 1);
  if (at != end || count > kMaxDigits || decimals < 1 || decimals > kMaxDecimals) {
    return false;
  }
  double magnitude = 0;
  if (!Divide(digits, decimals, &magnitude)) return false;
  *value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace xshards::io
