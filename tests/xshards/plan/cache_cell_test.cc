// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/cache_cell.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(CacheCell, HoldsPartitionsUntilCleared) {
  CacheCell cell;
  EXPECT_FALSE(cell.Get().has_value());
  cell.Set({Partition(), Partition()});
  ASSERT_TRUE(cell.Get().has_value());
  EXPECT_EQ(cell.Get()->size(), 2);
  cell.Clear();
  EXPECT_FALSE(cell.Get().has_value());
}

TEST(CacheCell, NoPartitionsAreStillAnAnswer) {
  CacheCell cell;
  cell.Set({});
  EXPECT_TRUE(cell.Get().has_value());
}

}  // namespace
}  // namespace xshards
