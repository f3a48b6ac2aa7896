// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/number_parser.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

// The bytes around a field must not matter.
struct Padded {
  explicit Padded(const std::string& text)
      : all(std::string(kNumberPadding, '7') + text + std::string(16, '9')),
        begin(all.data() + kNumberPadding),
        end(begin + text.size()) {}
  std::string all;
  const char* begin;
  const char* end;
};

TEST(CsvNumbers, ReadsIntegersAsPandasDoes) {
  uint64_t bits = 0;
  for (const auto& [text, value] :
       {std::pair("0", int64_t{0}), std::pair("+1", int64_t{1}),
        std::pair(" -7\t", int64_t{-7}), std::pair("0012", int64_t{12}),
        std::pair("-0", int64_t{0}),
        std::pair("9223372036854775807", std::numeric_limits<int64_t>::max()),
        std::pair("-9223372036854775808", std::numeric_limits<int64_t>::min())}) {
    ASSERT_EQ(ReadInteger(text, &bits), IntegerText::kInt64) << text;
    EXPECT_EQ(static_cast<int64_t>(bits), value) << text;
  }
  EXPECT_EQ(ReadInteger("9223372036854775808", &bits), IntegerText::kUInt64);
  EXPECT_EQ(ReadInteger("18446744073709551615", &bits), IntegerText::kUInt64);
  EXPECT_EQ(bits, std::numeric_limits<uint64_t>::max());
  for (const char* text : {"18446744073709551616", "-9223372036854775809",
                           "99999999999999999999999", "28446744073709551615"}) {
    EXPECT_EQ(ReadInteger(text, &bits), IntegerText::kHuge) << text;
  }
  for (const char* text :
       {"", " ", "-", "+-1", "--1", "- 1", "1 2", "1.", "0x10", "1_0"}) {
    EXPECT_EQ(ReadInteger(text, &bits), IntegerText::kNotInteger) << text;
  }
}

TEST(CsvNumbers, ReadsFloatsAsPandasDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double value = 0;
  for (const auto& [text, expected] :
       {std::pair("1.", 1.0), std::pair(".5", 0.5), std::pair("+1.5", 1.5),
        std::pair(" -2.5 ", -2.5), std::pair("1e5", 1e5), std::pair("1E+5", 1e5),
        std::pair("25e-1", 2.5), std::pair("inf", kInfinity),
        std::pair("-Infinity", -kInfinity), std::pair("+INF", kInfinity),
        std::pair("1e400", kInfinity), std::pair("-1e400", -kInfinity),
        std::pair("1e-400", 0.0), std::pair("0e5", 0.0),
        std::pair("12345678901234567890123.5", 12345678901234567890123.5)}) {
    ASSERT_TRUE(ReadFloat(text, &value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
  for (const char* text : {"", ".", "-", "1e", "1e+", "1e 5", "infi", "nan", "1d5",
                           "0.1.2", "0x1p3", "1_0", "--1", "1 2"}) {
    EXPECT_FALSE(ReadFloat(text, &value)) << text;
  }
}

TEST(CsvNumbers, QuickIntegersAgreeWithTheOthers) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300000; ++i) {
    std::string text = random() % 3 == 0 ? "-" : "";
    for (size_t digits = random() % 19; digits > 0; --digits) {
      text += static_cast<char>('0' + random() % 10);
    }
    if (random() % 8 == 0)
      text.insert(random() % (text.size() + 1), 1, "/: .-+a\x80"[random() % 8]);
    if (text.empty()) continue;
    const Padded padded(text);
    int64_t value = 0;
    uint64_t bits = 0;
    if (!QuickInteger(padded.begin, padded.end, &value)) continue;
    ASSERT_EQ(ReadInteger(text, &bits), IntegerText::kInt64) << text;
    ASSERT_EQ(static_cast<int64_t>(bits), value) << text;
  }
  int64_t value = 0;
  for (const char* text : {"0", "12345678", "123456789", "-1234567890123456"}) {
    const Padded padded(text);
    EXPECT_TRUE(QuickInteger(padded.begin, padded.end, &value)) << text;
    EXPECT_EQ(value, std::atoll(text));
  }
}

TEST(CsvNumbers, QuickFloatsAreCorrectlyRounded) {
  std::mt19937_64 random(6);
  int64_t num_quick = 0;
  for (int i = 0; i < 500000; ++i) {
    std::string digits;
    for (size_t count = 1 + random() % 21; count > 0; --count) {
      digits += static_cast<char>('0' + random() % (random() % 4 == 0 ? 1 : 10));
    }
    if (random() % 5 != 0) digits.insert(random() % (digits.size() + 1), ".");
    if (random() % 9 == 0)
      digits.insert(random() % (digits.size() + 1), 1, "/:. -+ae"[random() % 8]);
    const std::string text = (random() % 2 == 0 ? "-" : "") + digits;
    const Padded padded(text);
    double value = 0;
    double read = 0;
    if (!QuickFloat(padded.begin, padded.end, &value)) continue;
    ++num_quick;
    char* end = nullptr;
    const double expected = std::strtod(text.c_str(), &end);
    ASSERT_EQ(*end, '\0') << text;
    ASSERT_EQ(std::bit_cast<uint64_t>(value), std::bit_cast<uint64_t>(expected)) << text;
    ASSERT_TRUE(ReadFloat(text, &read)) << text;
    ASSERT_EQ(read, expected) << text;
  }
  EXPECT_GT(num_quick, 300000);
}

// Halfway between two doubles, and next to it, is where rounding goes wrong.
TEST(CsvNumbers, QuickFloatsAreCorrectlyRoundedNearHalfway) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200000; ++i) {
    const double low =
        std::ldexp(static_cast<double>((random() >> 11) | (uint64_t{1} << 52)),
                   -static_cast<int>(40 + random() % 25));
    const long double half = (static_cast<long double>(low) +
                              static_cast<long double>(std::nextafter(low, 1e300))) /
                             2;
    char text[64];
    std::snprintf(text, sizeof(text), "%.*Lf", static_cast<int>(10 + random() % 9), half);
    const Padded padded(text);
    double value = 0;
    if (!QuickFloat(padded.begin, padded.end, &value)) continue;
    ASSERT_EQ(value, std::strtod(text, nullptr)) << text;
  }
}

}  // namespace
}  // namespace xshards::io
