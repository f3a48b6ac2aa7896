// SPDX-License-Identifier: Apache-2.0
#include "learn/schedule/learning_rate_schedule.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

SchedulePtr Get(arrow::Result<SchedulePtr> schedule) {
  return schedule.MoveValueUnsafe();
}

TEST(LearningRateSchedule, DefaultDecaysByIterations) {
  const auto schedule = Get(MakeDefaultSchedule(0.1));
  EXPECT_DOUBLE_EQ(schedule->RateAt(0.5, 0), 0.5);
  EXPECT_DOUBLE_EQ(schedule->RateAt(0.5, 10), 0.25);
  EXPECT_DOUBLE_EQ(Get(MakeDefaultSchedule(0))->RateAt(0.5, 1000), 0.5);
}

TEST(LearningRateSchedule, PolyReachesZeroAndStaysThere) {
  const auto schedule = Get(MakePolySchedule(2, 10));
  EXPECT_DOUBLE_EQ(schedule->RateAt(1, 0), 1);
  EXPECT_DOUBLE_EQ(schedule->RateAt(1, 5), 0.25);
  EXPECT_DOUBLE_EQ(schedule->RateAt(1, 10), 0);
  EXPECT_DOUBLE_EQ(schedule->RateAt(1, 11), 0);
}

TEST(LearningRateSchedule, ExponentialIsSmoothOrAStair) {
  EXPECT_DOUBLE_EQ(Get(MakeExponentialSchedule(10, 0.25, false))->RateAt(1, 5), 0.5);
  const auto stair = Get(MakeExponentialSchedule(10, 0.25, true));
  EXPECT_DOUBLE_EQ(stair->RateAt(1, 9), 1);
  EXPECT_DOUBLE_EQ(stair->RateAt(1, 10), 0.25);
}

TEST(LearningRateSchedule, StepsFallAtTheirSizes) {
  const auto step = Get(MakeStepSchedule(3, 0.5));
  EXPECT_DOUBLE_EQ(step->RateAt(8, 2), 8);
  EXPECT_DOUBLE_EQ(step->RateAt(8, 3), 4);
  EXPECT_DOUBLE_EQ(step->RateAt(8, 9), 1);
  const auto steps = Get(MakeMultiStepSchedule({2, 5, 5}, 0.5));
  EXPECT_DOUBLE_EQ(steps->RateAt(8, 1), 8);
  EXPECT_DOUBLE_EQ(steps->RateAt(8, 2), 4);
  EXPECT_DOUBLE_EQ(steps->RateAt(8, 5), 1);
  EXPECT_DOUBLE_EQ(Get(MakeMultiStepSchedule({}, 0.5))->RateAt(8, 5), 8);
}

TEST(LearningRateSchedule, SequenceStartsEachFromThePreviousRate) {
  SequentialSchedule schedule;
  EXPECT_DOUBLE_EQ(schedule.RateAt(0.1, 5, 0), 0.1);
  ASSERT_OK(schedule.Add(Get(MakeWarmupSchedule(0.1)), 4));
  ASSERT_OK(schedule.Add(Get(MakeStepSchedule(2, 0.5)), 3));
  EXPECT_DOUBLE_EQ(schedule.RateAt(0.1, 0, 0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.RateAt(0.1, 4, 0), 0.5);  // BigDL includes the end
  EXPECT_DOUBLE_EQ(schedule.RateAt(0.1, 5, 0), 0.5);
  EXPECT_DOUBLE_EQ(schedule.RateAt(0.1, 6, 0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.RateAt(0.1, 8, 0), 0.125);  // the last one never ends
}

TEST(LearningRateSchedule, PolyInASequenceCountsAllIterations) {
  SequentialSchedule schedule;
  ASSERT_OK(schedule.Add(Get(MakeDefaultSchedule(0)), 4));
  ASSERT_OK(schedule.Add(Get(MakePolySchedule(1, 10)), 6));
  EXPECT_DOUBLE_EQ(schedule.RateAt(1, 5, 0), 0.5);
}

TEST(LearningRateSchedule, PlateauReducesAfterPatience) {
  const auto schedule = Get(MakePlateauSchedule({.factor = 0.5, .patience = 1}));
  auto observe = [&](double loss) {
    schedule->Observe(loss, 1, 0);
    return schedule->RateAt(1, 0);
  };
  EXPECT_EQ(observe(1.0), 1);
  EXPECT_EQ(observe(0.5), 1);      // better
  EXPECT_EQ(observe(0.49995), 1);  // not by epsilon: the first without improvement
  EXPECT_EQ(observe(0.5), 0.5);    // the second
  EXPECT_EQ(observe(0.6), 0.25);   // BigDL does not reset the count
  EXPECT_EQ(observe(0.1), 0.25);
}

TEST(LearningRateSchedule, PlateauHonoursModeCooldownAndMinimum) {
  const auto schedule = Get(MakePlateauSchedule(
      {.factor = 0.1, .patience = 0, .maximize = true, .cooldown = 2, .min_rate = 0.05}));
  auto observe = [&](double score) {
    schedule->Observe(score, 1, 0);
    return schedule->RateAt(1, 0);
  };
  EXPECT_EQ(observe(0.5), 1);
  EXPECT_EQ(observe(0.4), 0.1);
  EXPECT_EQ(observe(0.4), 0.1);  // cooling down
  EXPECT_EQ(observe(0.4), 0.05);
  EXPECT_EQ(observe(0.4), 0.05);
  EXPECT_EQ(observe(0.4), 0.05);
  EXPECT_EQ(observe(0.4), 0.05);  // the minimum
}

TEST(LearningRateSchedule, RestoredPlateauGoesOn) {
  auto make = [] {
    auto schedule = std::make_shared<SequentialSchedule>();
    EXPECT_TRUE(schedule->Add(Get(MakeWarmupSchedule(0.1)), 5).ok());
    EXPECT_TRUE(
        schedule->Add(Get(MakePlateauSchedule({.factor = 0.5, .patience = 0})), 100)
            .ok());
    return schedule;
  };
  const auto first = make();
  first->Observe(1.0, 0.5, 10);
  first->Observe(2.0, 0.5, 20);
  EXPECT_DOUBLE_EQ(first->RateAt(0.5, 21, 0), 0.5);  // half of 0.5 + 5 * 0.1
  const auto second = make();
  EXPECT_DOUBLE_EQ(second->RateAt(0.5, 21, 0), 1);
  ASSERT_OK(second->Restore(first->State()));
  EXPECT_DOUBLE_EQ(second->RateAt(0.5, 21, 0), 0.5);
  second->Observe(2.0, 0.5, 30);
  EXPECT_DOUBLE_EQ(second->RateAt(0.5, 31, 0), 0.25);
  EXPECT_FAILS(Invalid, "too long", second->Restore({1, 2, 3, 4, 5}));
  EXPECT_FAILS(Invalid, "too short", second->Restore({1}));
}

TEST(LearningRateSchedule, RejectsInvalidOptionsByName) {
  EXPECT_FAILS(Invalid, "max_iteration must be at least 1, got 0",
               MakePolySchedule(1, 0));
  EXPECT_FAILS(Invalid, "step_size must be at least 1", MakeStepSchedule(0, 1));
  EXPECT_FAILS(Invalid, "decay_step must be at least 1",
               MakeExponentialSchedule(0, 1, false));
  EXPECT_FAILS(Invalid, "must be in ascending order", MakeMultiStepSchedule({3, 2}, 1));
  EXPECT_FAILS(Invalid, "factor must be below 1", MakePlateauSchedule({.factor = 1}));
  EXPECT_FAILS(Invalid, "keeps no state", Get(MakeWarmupSchedule(1))->Restore({1}));
}

}  // namespace
}  // namespace xshards::learn
