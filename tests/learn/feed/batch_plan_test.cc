// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/batch_plan.h"

#include <gtest/gtest.h>

namespace xshards::learn {
namespace {

TEST(BatchPlanTest, SharesCoverEachStepAndDifferByOneRowAtMost) {
  for (const int64_t num_rows : {0, 1, 2, 7, 100}) {
    for (const int64_t batch_size : {1, 3, 10, 1000}) {
      for (const int replicas : {1, 2, 3, 8}) {
        const BatchPlan plan{num_rows, batch_size, replicas};
        int64_t position = 0;
        for (int64_t step = 0; step < plan.num_steps(); ++step) {
          const int64_t rows = plan.StepRows(step);
          EXPECT_GT(rows, 0);
          EXPECT_TRUE(rows == batch_size || step == plan.num_steps() - 1);
          for (int replica = 0; replica < replicas; ++replica) {
            const auto share = plan.ShareOf(replica, step);
            EXPECT_EQ(share.begin, position);
            EXPECT_GE(share.end - share.begin, rows / replicas);
            EXPECT_LE(share.end - share.begin, rows / replicas + 1);
            position = share.end;
          }
        }
        EXPECT_EQ(position, num_rows);
      }
    }
  }
}

}  // namespace
}  // namespace xshards::learn
