// SPDX-License-Identifier: Apache-2.0
#include "xshards/recycling_pool.h"

#include <cstring>

#include <arrow/memory_pool.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards {
namespace {

constexpr int64_t kLarge = 4 * RecyclingPool::kMinBytes;

class RecyclingPoolTest : public ::testing::Test {
 protected:
  uint8_t* Allocate(int64_t size) {
    uint8_t* block = nullptr;
    EXPECT_TRUE(pool_.Allocate(size, &block).ok());
    std::memset(block, 1, static_cast<size_t>(size));
    return block;
  }

  arrow::ProxyMemoryPool below_{arrow::default_memory_pool()};
  RecyclingPool pool_{&below_, 2 * kLarge};
};

TEST_F(RecyclingPoolTest, GivesALargeBlockAgain) {
  uint8_t* block = Allocate(kLarge);
  pool_.Free(block, kLarge);
  EXPECT_EQ(pool_.idle_bytes(), kLarge);
  EXPECT_EQ(below_.bytes_allocated(), kLarge);
  // About as much is as good.
  EXPECT_EQ(Allocate(kLarge - 1000), block);
  EXPECT_EQ(pool_.idle_bytes(), 0);
  pool_.Free(block, kLarge - 1000);
  pool_.ReleaseUnused();
  EXPECT_EQ(pool_.idle_bytes(), 0);
  EXPECT_EQ(below_.bytes_allocated(), 0);
}

TEST_F(RecyclingPoolTest, PassesSmallBlocksOn) {
  pool_.Free(Allocate(1000), 1000);
  EXPECT_EQ(pool_.idle_bytes(), 0);
  EXPECT_EQ(below_.bytes_allocated(), 0);
}

TEST_F(RecyclingPoolTest, KeepsNoMoreThanItMay) {
  uint8_t* blocks[] = {Allocate(kLarge), Allocate(kLarge), Allocate(kLarge)};
  for (uint8_t* block : blocks) pool_.Free(block, kLarge);
  EXPECT_EQ(pool_.idle_bytes(), 2 * kLarge);
  EXPECT_EQ(below_.bytes_allocated(), 2 * kLarge);
}

TEST_F(RecyclingPoolTest, KeepsTheBytesOfABlockThatGrowsOrShrinks) {
  uint8_t* block = Allocate(1000);
  int64_t size = 1000;
  for (int64_t next : {kLarge, kLarge - 1, 2 * kLarge, kLarge / 2, int64_t{500}}) {
    ASSERT_OK(pool_.Reallocate(size, next, &block));
    size = next;
    for (int64_t i = 0; i < 500; ++i) ASSERT_EQ(block[i], 1);
    std::memset(block, 1, static_cast<size_t>(size));
  }
  pool_.Free(block, size);
  pool_.ReleaseUnused();
  EXPECT_EQ(below_.bytes_allocated(), 0);
}

TEST_F(RecyclingPoolTest, LeavesNothingBehind) {
  {
    RecyclingPool own(&below_, kLarge);
    uint8_t* block = nullptr;
    ASSERT_OK(own.Allocate(kLarge, &block));
    own.Free(block, kLarge);
    EXPECT_EQ(below_.bytes_allocated(), kLarge);
  }
  EXPECT_EQ(below_.bytes_allocated(), 0);
}

}  // namespace
}  // namespace xshards
