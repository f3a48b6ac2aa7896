// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/metrics.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(FragmentMetrics, MergeAddsEverything) {
  FragmentMetrics one{.bytes_read = 1,
                      .rows_read = 2,
                      .row_groups_skipped = 3,
                      .rows_out = 4,
                      .bytes_out = 5,
                      .seconds = 6};
  FragmentMetrics sum;
  sum.Merge(one);
  sum.Merge(one);
  EXPECT_EQ(sum.bytes_read, 2);
  EXPECT_EQ(sum.rows_read, 4);
  EXPECT_EQ(sum.row_groups_skipped, 6);
  EXPECT_EQ(sum.rows_out, 8);
  EXPECT_EQ(sum.bytes_out, 10);
  EXPECT_EQ(sum.seconds, 12);
}

TEST(Profile, AddsItsStages) {
  Profile profile;
  EXPECT_EQ(profile.Total().bad_lines, 0);
  const FragmentMetrics clean{.rows_read = 5};
  const FragmentMetrics first{.rows_read = 2, .bad_lines = 1, .first_bad_line = "a:3"};
  const FragmentMetrics second{.bad_lines = 4, .first_bad_line = "b:7"};
  for (const auto& metrics : {clean, first, second}) {
    profile.stages.push_back({.metrics = metrics});
  }
  const auto total = profile.Total();
  EXPECT_EQ(total.rows_read, 7);
  EXPECT_EQ(total.bad_lines, 5);
  EXPECT_EQ(total.first_bad_line, "a:3");
}

TEST(Progress, CountsStagesAndTheirFragments) {
  Progress progress;
  EXPECT_EQ(progress.Get().stage, 0);
  progress.StartStage("one", 3);
  progress.FinishFragment();
  progress.StartStage("two", 5);
  progress.FinishFragment();
  progress.FinishFragment();
  auto now = progress.Get();
  EXPECT_EQ(now.stage, 2);
  EXPECT_EQ(now.label, "two");
  EXPECT_EQ(now.done, 2);
  EXPECT_EQ(now.total, 5);
  progress.Reset();
  EXPECT_EQ(progress.Get().stage, 0);
}

}  // namespace
}  // namespace xshards
