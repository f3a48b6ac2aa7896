// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/rle_bit_packed_decoder.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/parquet/bit_unpack.h"
#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

/// Packs numbers as Parquet's writers do; the test's own words for the format.
class Packer {
 public:
  explicit Packer(int width) : width_(width) {}

  void Run(uint32_t value, int64_t count) {
    Header(static_cast<uint64_t>(count) << 1);
    for (int i = 0; i < (width_ + 7) / 8; ++i) {
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
  }
  void Groups(const std::vector<uint32_t>& values) {  // a multiple of eight
    Header(values.size() / 8 << 1 | 1);
    const size_t start = bytes_.size();
    bytes_.resize(start + values.size() / 8 * static_cast<size_t>(width_));
    for (size_t i = 0; i < values.size() * static_cast<size_t>(width_); ++i) {
      const auto width = static_cast<size_t>(width_);
      const uint32_t bit = values[i / width] >> (i % width) & 1;
      bytes_[start + i / 8] |= static_cast<uint8_t>(bit << (i % 8));
    }
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  void Header(uint64_t header) {
    for (; header >= 0x80; header >>= 7) {
      bytes_.push_back(static_cast<uint8_t>(header | 0x80));
    }
    bytes_.push_back(static_cast<uint8_t>(header));
  }

  int width_;
  std::vector<uint8_t> bytes_;
};

uint32_t Mask(int width) {
  return width == 0 ? 0 : static_cast<uint32_t>((uint64_t{1} << width) - 1);
}

class PackedRunsOfWidth : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Widths, PackedRunsOfWidth, ::testing::Range(0, 33));

TEST_P(PackedRunsOfWidth, ComeBackHoweverTheyAreRead) {
  const int width = GetParam();
  std::mt19937 random(7);
  Packer packer(width);
  std::vector<uint32_t> expected;
  for (int i = 0; i < 40; ++i) {
    if (random() % 2 == 0) {
      const auto value = static_cast<uint32_t>(random()) & Mask(width);
      const int64_t count = random() % 3 == 0 ? 500 : random() % 5;
      packer.Run(value, count);
      expected.insert(expected.end(), static_cast<size_t>(count), value);
    } else {
      std::vector<uint32_t> values(8 * (1 + random() % 20));
      for (auto& value : values) value = static_cast<uint32_t>(random()) & Mask(width);
      packer.Groups(values);
      expected.insert(expected.end(), values.begin(), values.end());
    }
  }
  // The data in a vector of exactly their size, so that a sanitizer sees what is beyond.
  const std::vector<uint8_t> bytes = packer.bytes();
  for (const int64_t step : {1, 3, 8, 100, 1024, 100000}) {
    PackedRuns runs(bytes.data(), static_cast<int64_t>(bytes.size()), width);
    std::vector<uint32_t> actual(expected.size());
    for (size_t i = 0; i < expected.size();) {
      const auto taken = std::min(static_cast<size_t>(step), expected.size() - i);
      ASSERT_OK(runs.Read(actual.data() + i, static_cast<int64_t>(taken)));
      i += taken;
    }
    EXPECT_EQ(actual, expected);
    uint32_t beyond = 0;
    EXPECT_FAILS(Invalid, "run exceeds the page", runs.Read(&beyond, 1));
  }
}

TEST_P(PackedRunsOfWidth, AreUnpackedAlikeByAllKinds) {
  const int width = std::max(GetParam(), 1);
  std::mt19937 random(3);
  std::vector<uint8_t> bytes(400);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
  const uint8_t* const end = bytes.data() + bytes.size();
  for (int64_t first_bit = 0; first_bit < 20; ++first_bit) {
    const int64_t count = (400 * 8 - first_bit) / width;
    std::vector<uint32_t> fast(static_cast<size_t>(count));
    std::vector<uint32_t> plain(static_cast<size_t>(count));
    UnpackBits(bytes.data(), end, first_bit, width, fast.data(), count);
    UnpackBitsBaseline(bytes.data(), end, first_bit, width, plain.data(), count);
    EXPECT_EQ(fast, plain) << first_bit;
    for (const int64_t i : {int64_t{0}, count / 2, count - 1}) {
      uint64_t value = 0;
      for (int bit = 0; bit < width; ++bit) {
        const auto at = static_cast<size_t>(first_bit + i * width + bit);
        value |= uint64_t{bytes[at / 8] >> (at % 8) & 1U} << bit;
      }
      EXPECT_EQ(plain[static_cast<size_t>(i)], value);
    }
  }
}

TEST(PackedRuns, OfOneBitBecomeABitmap) {
  Packer packer(1);
  packer.Run(1, 13);
  packer.Groups({1, 0, 1, 1, 0, 0, 0, 1});
  packer.Run(0, 5);
  const auto& bytes = packer.bytes();
  for (const int64_t offset : {0, 1, 7, 8, 21}) {
    PackedRuns runs(bytes.data(), static_cast<int64_t>(bytes.size()), 1);
    std::vector<uint8_t> bitmap(16, 0);
    bitmap[0] = 0x55;  // what is before stays
    bitmap[0] &= static_cast<uint8_t>((1 << std::min<int64_t>(offset, 8)) - 1);
    ASSERT_OK_AND_ASSIGN(const int64_t first, runs.ReadBits(bitmap.data(), offset, 15));
    ASSERT_OK_AND_ASSIGN(const int64_t second,
                         runs.ReadBits(bitmap.data(), offset + 15, 11));
    EXPECT_EQ(first, 14);
    EXPECT_EQ(second, 3);
    std::string text;
    for (int64_t i = offset; i < offset + 26; ++i) {
      text += (bitmap[static_cast<size_t>(i / 8)] >> (i % 8) & 1) != 0 ? '1' : '0';
    }
    EXPECT_EQ(text, "11111111111111011000100000");
    EXPECT_EQ(bitmap[0] & ((1 << std::min<int64_t>(offset, 8)) - 1),
              0x55 & ((1 << std::min<int64_t>(offset, 8)) - 1));
    EXPECT_FAILS(Invalid, "run exceeds the page", runs.ReadBits(bitmap.data(), 0, 1));
  }
}

// Whatever the bytes are, reading ends, and nothing outside of them is read.
TEST(PackedRuns, EndOrFailWhateverTheBytes) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes(random() % 12);
    for (auto& byte : bytes) {
      byte = random() % 4 == 0 ? 0xFF : static_cast<uint8_t>(random() % 8);
    }
    PackedRuns runs(bytes.data(), static_cast<int64_t>(bytes.size()),
                    static_cast<int>(random() % 33));
    std::vector<uint32_t> out(300);
    const auto status = runs.Read(out.data(), 300);
    EXPECT_TRUE(status.ok() || status.IsInvalid());
    PackedRuns bits(bytes.data(), static_cast<int64_t>(bytes.size()), 1);
    std::vector<uint8_t> bitmap(303 / 8 + 1 + PackedRuns::kBitmapPadding);
    const auto ones = bits.ReadBits(bitmap.data(), 3, 300);
    EXPECT_TRUE(ones.ok() ? *ones <= 300 : ones.status().IsInvalid());
  }
}

}  // namespace
}  // namespace xshards::io
