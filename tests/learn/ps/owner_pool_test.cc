// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/owner_pool.h"

#include <atomic>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/support/no_more_threads.h"
#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

TEST(OwnerPool, RunsWorkOfAllOwners) {
  ASSERT_OK_AND_ASSIGN(const auto pool, OwnerPool::Make(3));
  for (const int count : {1, 2, 3}) {
    std::atomic<int> sum{0};
    ASSERT_OK(pool->Run(count, [&](int owner) { sum += 1 << owner; }));
    EXPECT_EQ(sum, (1 << count) - 1);
  }
}

TEST(OwnerPool, WhatAnOwnerThrowsBecomesAStatusAndAllEnd) {
  ASSERT_OK_AND_ASSIGN(const auto pool, OwnerPool::Make(3));
  for (const int thrower : {0, 1, 2}) {
    std::atomic<int> ended{0};
    EXPECT_FAILS(OutOfMemory, "parameters", pool->Run(3, [&](int owner) {
      if (owner == thrower) throw std::bad_alloc();
      ++ended;
    }));
    EXPECT_EQ(ended, 2);
    EXPECT_FAILS(UnknownError, "shape", pool->Run(3, [&](int owner) {
      if (owner == thrower) throw std::runtime_error("shape");
    }));
    ASSERT_OK(pool->Run(3, [](int) {}));
  }
}

TEST(OwnerPool, IsAnErrorWhereNoThreadStarts) {
  const ::xshards::testing::NoMoreThreads none;
  EXPECT_FAILS(UnknownError, "Starting the owners of parameters", OwnerPool::Make(3));
  EXPECT_OK(OwnerPool::Make(1));
}

}  // namespace
}  // namespace xshards::learn
