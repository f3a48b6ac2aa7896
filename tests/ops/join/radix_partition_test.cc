// SPDX-License-Identifier: Apache-2.0
#include "ops/join/radix_partition.h"

#include <random>

#include <gtest/gtest.h>

namespace xshards::ops {
namespace {

// Sort chunks of random rows and check that each part has its own, in their order.
void CheckSorted(size_t num_parts, const std::vector<size_t>& chunk_sizes) {
  std::mt19937 random(static_cast<uint32_t>(num_parts));
  RowsByPart rows;
  rows.Start(chunk_sizes.size(), num_parts);
  uint32_t begin = 0;
  for (size_t chunk = 0; chunk < chunk_sizes.size(); ++chunk) {
    const size_t size = chunk_sizes[chunk];
    std::vector<size_t> parts(size);
    for (size_t& part : parts) part = random() % num_parts;
    std::vector<size_t> sorted(size, size);
    rows.SortChunk(
        chunk, begin, size, [&](size_t row) { return parts[row]; },
        [&](size_t row, uint32_t place) { sorted.at(place - begin) = row; });
    uint32_t expected_begin = begin;
    for (size_t part = 0; part < num_parts; ++part) {
      const auto [first, end] = rows.Places(chunk, part);
      ASSERT_EQ(first, expected_begin);
      std::vector<size_t> expected;
      for (size_t row = 0; row < size; ++row) {
        if (parts[row] == part) expected.push_back(row);
      }
      ASSERT_EQ(std::vector<size_t>(sorted.begin() + (first - begin),
                                    sorted.begin() + (end - begin)),
                expected);
      expected_begin = end;
    }
    begin += static_cast<uint32_t>(size);
    ASSERT_EQ(expected_begin, begin);
  }
}

TEST(RowsByPart, SortsEachChunkStably) {
  for (const int num_parts : {1, 2, 16, 17, 256, 257}) {
    CheckSorted(static_cast<size_t>(num_parts), {0, 1, 3000, 0, 17});
  }
}

TEST(RowsByPart, HasFewPartsOrMany) {
  EXPECT_EQ(RowsByPart::PartBits(0, 100), 4);
  EXPECT_EQ(RowsByPart::PartBits(1600, 100), 4);
  EXPECT_EQ(RowsByPart::PartBits(1601, 100), 8);
}

}  // namespace
}  // namespace xshards::ops
