// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/memory_budget.h"

#include <memory>
#include <thread>
#include <vector>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards {
namespace {

class FakeData final : public Spillable {
 public:
  FakeData(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {
    budget_->Add(bytes_);
  }
  ~FakeData() override { budget_->Add(-bytes_); }
  arrow::Result<int64_t> Spill() override {
    budget_->Add(-bytes_);
    return std::exchange(bytes_, 0);
  }
  int64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_;
  int64_t bytes_;
};

TEST(MemoryBudget, CountsWhatItsPoolAllocates) {
  MemoryBudget budget(1000);
  {
    ASSERT_OK_AND_ASSIGN(auto buffer, arrow::AllocateBuffer(640, budget.pool()));
    EXPECT_GE(budget.used(), 640);
  }
  EXPECT_EQ(budget.used(), 0);
  EXPECT_GE(budget.peak(), 640);
}

TEST(MemoryBudget, CountsReallocationByItsDifference) {
  MemoryBudget budget(1 << 20);
  ASSERT_OK_AND_ASSIGN(auto buffer, arrow::AllocateResizableBuffer(1024, budget.pool()));
  ASSERT_OK(buffer->Resize(4096));
  EXPECT_GE(budget.used(), 4096);
  EXPECT_LT(budget.used(), 8192);
  buffer.reset();
  EXPECT_EQ(budget.used(), 0);
}

TEST(MemoryBudget, SpillsTheColdestFirstAndNoMoreThanNeeded) {
  MemoryBudget budget(1000);  // the mark is at 800
  auto cold = std::make_shared<FakeData>(&budget, 400);
  auto warm = std::make_shared<FakeData>(&budget, 400);
  auto hot = std::make_shared<FakeData>(&budget, 200);
  for (const auto& data : {cold, warm, hot}) budget.Register(data);
  EXPECT_TRUE(budget.over_high_mark());
  ASSERT_OK(budget.MakeRoom());
  EXPECT_EQ(cold->bytes(), 0);
  EXPECT_EQ(warm->bytes(), 400);
  EXPECT_EQ(hot->bytes(), 200);
}

TEST(MemoryBudget, IgnoresExpiredDataAndStopsIfNothingIsLeft) {
  MemoryBudget budget(1000);
  {
    auto gone = std::make_shared<FakeData>(&budget, 10);
    budget.Register(gone);
  }
  budget.Add(5000);
  ASSERT_OK(budget.MakeRoom());
  EXPECT_EQ(budget.used(), 5000);
}

TEST(MemoryBudget, SpillsDataRegisteredAfterExpiredEntries) {
  MemoryBudget budget(1000);
  auto kept = std::make_shared<FakeData>(&budget, 500);
  {
    auto gone = std::make_shared<FakeData>(&budget, 10);
    budget.Register(gone);
  }
  budget.Register(kept);
  budget.Add(400);
  ASSERT_OK(budget.MakeRoom());
  EXPECT_EQ(kept->bytes(), 0);
  budget.Add(-400);
}

TEST(MemoryBudget, ReservationCountsWhileItLives) {
  MemoryBudget budget(1000);
  {
    Reservation reservation(&budget);
    reservation.Resize(300);
    EXPECT_EQ(budget.used(), 300);
    reservation.Resize(100);
    EXPECT_EQ(budget.used(), 100);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(MemoryBudget, ManyThreadsLeaveUsageAtZero) {
  MemoryBudget budget(1 << 20);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 200; ++j) {
          auto data = std::make_shared<FakeData>(&budget, 10000);
          budget.Register(data);
          EXPECT_TRUE(budget.MakeRoom().ok());
        }
      });
    }
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace xshards
