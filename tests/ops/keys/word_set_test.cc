// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/word_set.h"

#include <random>
#include <unordered_set>

#include <gtest/gtest.h>

namespace xshards::ops {
namespace {

TEST(WordSet, InsertReportsDuplicates) {
  std::mt19937_64 random(4);
  for (const uint64_t range : {1U, 40U, 5000U, 0U}) {
    constexpr size_t kWords = 6000;
    WordSet words(kWords);
    std::unordered_set<uint64_t> expected;
    for (size_t i = 0; i < kWords; ++i) {
      const uint64_t word = range == 0 ? random() : random() % range;
      ASSERT_EQ(words.Add(word), expected.insert(word).second);
    }
  }
}

TEST(WordSet, HoldsItsCapacityOfAnyWords) {
  for (const size_t most : {0U, 1U, 2U, 3U, 1000U}) {
    WordSet words(most);
    for (size_t i = 0; i < most; ++i) EXPECT_TRUE(words.Add(i << 50));
    for (size_t i = 0; i < most; ++i) EXPECT_FALSE(words.Add(i << 50));
    EXPECT_GE(words.num_bytes(), static_cast<int64_t>(most * sizeof(uint64_t)));
  }
  WordSet words(3);
  // The word by which it knows an empty slot.
  EXPECT_TRUE(words.Add(0x9E3779B97F4A7C15));
  EXPECT_FALSE(words.Add(0x9E3779B97F4A7C15));
  EXPECT_TRUE(words.Add(0));
  EXPECT_TRUE(words.Add(~uint64_t{0}));
}

}  // namespace
}  // namespace xshards::ops
