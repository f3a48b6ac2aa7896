// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/huge_page_pool.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "xshards/memory/huge_pages.h"
#include "xshards/memory/memory_budget.h"

namespace xshards {
namespace {

constexpr int64_t kMany = std::numeric_limits<int64_t>::max();
constexpr int64_t kWarmMegabyte = 1 << 20;

TEST(WarmBlocks, ReusesAFreedBlock) {
  WarmBlocks blocks;
  uint8_t* const first = blocks.Allocate(kWarmMegabyte);
  ASSERT_NE(first, nullptr);
  std::memset(first, 1, kWarmMegabyte);
  uint8_t* const behind = blocks.Allocate(kWarmMegabyte);
  blocks.Free(first, kWarmMegabyte, kMany);
  EXPECT_EQ(blocks.idle_bytes(), kWarmMegabyte);
  EXPECT_EQ(blocks.Allocate(kWarmMegabyte), first);
  EXPECT_EQ(blocks.idle_bytes(), 0);
  blocks.Free(first, kWarmMegabyte, kMany);
  blocks.Free(behind, kWarmMegabyte, kMany);
}

TEST(WarmBlocks, MergesAdjacentFreeBlocks) {
  WarmBlocks blocks;
  std::vector<uint8_t*> all;
  for (int i = 0; i < 4; ++i) all.push_back(blocks.Allocate(kWarmMegabyte));
  for (const size_t i : {0U, 2U, 1U}) blocks.Free(all[i], kWarmMegabyte, kMany);
  EXPECT_EQ(blocks.Allocate(3 * kWarmMegabyte), all[0]);
  blocks.Free(all[0], 3 * kWarmMegabyte, kMany);
  blocks.Free(all[3], kWarmMegabyte, kMany);
}

TEST(WarmBlocks, KeepsAtMostMaxIdleBytes) {
  WarmBlocks blocks;
  std::vector<uint8_t*> all;
  for (int i = 0; i < 200; ++i) all.push_back(blocks.Allocate(kWarmMegabyte));
  for (uint8_t* block : all) {
    blocks.Free(block, kWarmMegabyte, 10 * kWarmMegabyte);
    EXPECT_LE(blocks.idle_bytes(), 10 * kWarmMegabyte);
  }
}

TEST(WarmBlocks, ReturnsCompleteHugePagesFirst) {
  WarmBlocks blocks;
  uint8_t* const first = blocks.Allocate(3 * kWarmMegabyte);
  uint8_t* const behind = blocks.Allocate(kWarmMegabyte);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(first) % kHugePage, 0U);
  std::memset(first, 1, 3 * kWarmMegabyte);
  blocks.Free(first, 3 * kWarmMegabyte, 2 * kWarmMegabyte);
  EXPECT_EQ(blocks.idle_bytes(), kWarmMegabyte);
  ASSERT_EQ(blocks.Allocate(3 * kWarmMegabyte), first);
  EXPECT_EQ(first[2 * kWarmMegabyte - 1], 0);
  EXPECT_EQ(first[2 * kWarmMegabyte], 1);
  // If nothing may be kept, everything is returned.
  blocks.Free(first, 3 * kWarmMegabyte, 0);
  EXPECT_EQ(blocks.idle_bytes(), 0);
  ASSERT_EQ(blocks.Allocate(3 * kWarmMegabyte), first);
  EXPECT_EQ(first[2 * kWarmMegabyte], 0);
  blocks.Free(first, 3 * kWarmMegabyte, kMany);
  blocks.Free(behind, kWarmMegabyte, kMany);
}

TEST(WarmBlocks, ReturnsLongestFreePagesFirst) {
  WarmBlocks blocks;
  std::vector<uint8_t*> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(blocks.Allocate(4 * kWarmMegabyte));
    std::memset(all.back(), 1, 4 * kWarmMegabyte);
  }
  // Every other one, so that they stay apart.
  for (const size_t i : {2U, 0U, 4U}) {
    blocks.Free(all[i], 4 * kWarmMegabyte, 8 * kWarmMegabyte);
  }
  EXPECT_EQ(blocks.idle_bytes(), 8 * kWarmMegabyte);
  std::vector<uint8_t*> again;
  for (int i = 0; i < 3; ++i) again.push_back(blocks.Allocate(4 * kWarmMegabyte));
  EXPECT_EQ(all[0][0], 1);
  EXPECT_EQ(all[2][0], 0);
  EXPECT_EQ(all[4][0], 1);
  for (uint8_t* block : again) blocks.Free(block, 4 * kWarmMegabyte, kMany);
  for (const size_t i : {1U, 3U, 5U}) blocks.Free(all[i], 4 * kWarmMegabyte, kMany);
}

TEST(WarmBlocks, CountsPagesAfterABlock) {
  WarmBlocks blocks;
  uint8_t* const first = blocks.Allocate(9 * kWarmMegabyte);
  uint8_t* const behind = blocks.Allocate(kWarmMegabyte);
  std::memset(first, 1, 9 * kWarmMegabyte);
  blocks.Free(first, 9 * kWarmMegabyte, 3 * kWarmMegabyte / 2);
  ASSERT_EQ(blocks.Allocate(7 * kWarmMegabyte), first);
  EXPECT_EQ(blocks.idle_bytes(), kWarmMegabyte);  // the last of the nine
  EXPECT_EQ(blocks.ReleaseIdle(), kWarmMegabyte);
  blocks.Free(first, 7 * kWarmMegabyte, kMany);
  ASSERT_EQ(blocks.Allocate(9 * kWarmMegabyte), first);
  EXPECT_EQ(first[9 * kWarmMegabyte - 1], 0);
  blocks.Free(first, 9 * kWarmMegabyte, kMany);
  blocks.Free(behind, kWarmMegabyte, kMany);
}

TEST(WarmBlocks, ReleasesOnlyIdlePages) {
  WarmBlocks blocks;
  std::vector<uint8_t*> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(blocks.Allocate(kWarmMegabyte));
    std::memset(all.back(), i, kWarmMegabyte);
  }
  for (size_t i = 0; i < all.size(); i += 2) blocks.Free(all[i], kWarmMegabyte, kMany);
  EXPECT_EQ(blocks.idle_bytes(), 50 * kWarmMegabyte);
  EXPECT_EQ(blocks.ReleaseIdle(), 50 * kWarmMegabyte);
  EXPECT_EQ(blocks.idle_bytes(), 0);
  EXPECT_EQ(blocks.ReleaseIdle(), 0);
  for (size_t i = 1; i < all.size(); i += 2) {
    EXPECT_EQ(all[i][0], i);
    EXPECT_EQ(all[i][kWarmMegabyte - 1], i);
    blocks.Free(all[i], kWarmMegabyte, kMany);
  }
  // Now the areas themselves go.
  EXPECT_EQ(blocks.ReleaseIdle(), 50 * kWarmMegabyte);
  uint8_t* const again = blocks.Allocate(kWarmMegabyte);
  EXPECT_EQ(again[0], 0);
  blocks.Free(again, kWarmMegabyte, 0);
}

TEST(WarmBlocks, ResizesInPlaceIfThereIsRoom) {
  WarmBlocks blocks;
  uint8_t* const first = blocks.Allocate(kWarmMegabyte);
  EXPECT_TRUE(blocks.Resize(first, kWarmMegabyte, 3 * kWarmMegabyte));
  uint8_t* const second = blocks.Allocate(kWarmMegabyte);
  EXPECT_EQ(second, first + 3 * kWarmMegabyte);
  EXPECT_FALSE(blocks.Resize(first, 3 * kWarmMegabyte, 4 * kWarmMegabyte));
  EXPECT_TRUE(blocks.Resize(first, 3 * kWarmMegabyte, 2 * kWarmMegabyte));
  EXPECT_EQ(blocks.idle_bytes(), kWarmMegabyte);
  EXPECT_TRUE(blocks.Resize(first, 2 * kWarmMegabyte, 2 * kWarmMegabyte + 5000));
  EXPECT_FALSE(blocks.Resize(second, kWarmMegabyte, 1000 * kWarmMegabyte));
  blocks.Free(first, 2 * kWarmMegabyte + 5000, kMany);
  blocks.Free(second, kWarmMegabyte, kMany);
  EXPECT_EQ(blocks.idle_bytes(), 4 * kWarmMegabyte);
}

TEST(WarmBlocks, TakesBlocksOfAnySize) {
  WarmBlocks blocks;
  uint8_t* const large = blocks.Allocate(200 * kWarmMegabyte + 1);
  ASSERT_NE(large, nullptr);
  large[200 * kWarmMegabyte] = 7;
  blocks.Free(large, 200 * kWarmMegabyte + 1, kMany);
  EXPECT_EQ(blocks.Allocate(int64_t{1} << 60), nullptr);
}

// The contents of a block never change, whatever happens around it.
TEST(WarmBlocks, NeverAllocatesAByteTwice) {
  WarmBlocks blocks;
  std::mt19937 random(1);
  std::map<uint8_t*, std::pair<int64_t, uint8_t>> held;
  const auto is_whole = [](const auto& entry) {
    const auto& [size, mark] = entry.second;
    return std::all_of(entry.first, entry.first + size,
                       [mark = mark](uint8_t byte) { return byte == mark; });
  };
  for (int i = 0; i < 3000; ++i) {
    if (held.size() < 40 || random() % 2 == 0) {
      const int64_t size = 1 + static_cast<int64_t>(random() % 300'000);
      uint8_t* const block = blocks.Allocate(size);
      ASSERT_NE(block, nullptr);
      const auto mark = static_cast<uint8_t>(random());
      std::memset(block, mark, static_cast<size_t>(size));
      ASSERT_TRUE(held.insert({block, {size, mark}}).second);
      continue;
    }
    const auto chosen =
        std::next(held.begin(), static_cast<int64_t>(random() % held.size()));
    ASSERT_TRUE(is_whole(*chosen));
    const auto [size, mark] = chosen->second;
    const int64_t other = 1 + static_cast<int64_t>(random() % 300'000);
    if (random() % 3 == 0 && blocks.Resize(chosen->first, size, other)) {
      std::memset(chosen->first, mark, static_cast<size_t>(other));
      chosen->second.first = other;
      continue;
    }
    blocks.Free(chosen->first, size, random() % 4'000'000);
    held.erase(chosen);
    if (random() % 100 == 0) blocks.ReleaseIdle();
  }
  for (const auto& entry : held) {
    EXPECT_TRUE(is_whole(entry));
    blocks.Free(entry.first, entry.second.first, kMany);
  }
  blocks.ReleaseIdle();
  EXPECT_EQ(blocks.idle_bytes(), 0);
}

TEST(WarmBlocks, ServesManyThreads) {
  WarmBlocks blocks;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&blocks, t] {
      for (int i = 0; i < 300; ++i) {
        const int64_t size = 70'000 + 1000 * ((i * 7 + t) % 50);
        uint8_t* const block = blocks.Allocate(size);
        block[0] = static_cast<uint8_t>(t);
        block[size - 1] = static_cast<uint8_t>(t);
        std::this_thread::yield();
        EXPECT_EQ(block[0], t);
        EXPECT_EQ(block[size - 1], t);
        blocks.Free(block, size, 1'000'000);
      }
    });
  }
}

TEST(WarmBlocks, AreThePoolsLargeBuffers) {
  MemoryBudget budget(1LL << 30);
  for (const int64_t size : {100LL, 60'000LL, 65'536LL, 3'000'000LL}) {
    ASSERT_OK_AND_ASSIGN(auto buffer,
                         arrow::AllocateResizableBuffer(size, budget.pool()));
    std::memset(buffer->mutable_data(), 5, static_cast<size_t>(size));
    for (const int64_t other : {200'000LL, 50LL, 70'000LL, 65'535LL, 4'000'000LL}) {
      const int64_t kept = std::min(buffer->size(), other);
      ASSERT_OK(buffer->Resize(other, /*shrink_to_fit=*/true));
      EXPECT_TRUE(std::all_of(buffer->data(), buffer->data() + kept,
                              [](uint8_t byte) { return byte == 5; }));
      std::memset(buffer->mutable_data(), 5, static_cast<size_t>(other));
      EXPECT_GE(budget.used(), other);
      EXPECT_LT(budget.used(), other + 4096);
    }
  }
  EXPECT_EQ(budget.used(), 0);
#ifndef __SANITIZE_ADDRESS__  // which would end the process
  EXPECT_FALSE(arrow::AllocateBuffer(int64_t{1} << 60, budget.pool()).ok());
#endif
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace xshards
