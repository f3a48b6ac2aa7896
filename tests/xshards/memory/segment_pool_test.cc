// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/segment_pool.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

constexpr int64_t kSegmentMegabyte = 1 << 20;

class SegmentPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(
        pool_, SegmentPool::Make(directory_.path(), &budget_, 100 * kSegmentMegabyte));
  }

  /// A segment of `num_bytes`.
  std::shared_ptr<Segment> Filled(int64_t num_bytes) {
    auto segment = pool_->Create(SegmentKind::kMemory, num_bytes).ValueOrDie();
    const std::string bytes(static_cast<size_t>(num_bytes), 'x');
    EXPECT_TRUE(segment->Append(*arrow::Buffer::FromString(bytes)).ok());
    return segment;
  }

  testing::TemporaryDirectory directory_;
  MemoryBudget budget_{1LL << 30};
  std::unique_ptr<SegmentPool> pool_;
};

TEST_F(SegmentPoolTest, NamesASpillDirectoryItCannotUse) {
  EXPECT_FAILS(IOError, "/no/such/directory",
               SegmentPool::Make("/no/such/directory", &budget_, 0));
}

TEST_F(SegmentPoolTest, ReusesTheSmallestIdleSegmentThatFits) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int64_t size : {8, 2, 4}) made.push_back(Filled(size * kSegmentMegabyte));
  const int small = made[1]->fd();
  const int middle = made[2]->fd();
  const int large = made[0]->fd();
  made.clear();
  auto first = pool_->TakeIdle(3 * kSegmentMegabyte);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->fd(), middle);
  EXPECT_EQ(first->size(), 0);
  EXPECT_EQ(first->num_warm_bytes(), 4 * kSegmentMegabyte);
  auto second = pool_->TakeIdle(3 * kSegmentMegabyte);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->fd(), large);
  auto third = pool_->TakeIdle(3 * kSegmentMegabyte);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(third->fd(), small);  // better than fresh pages for all of it
  EXPECT_EQ(pool_->TakeIdle(3 * kSegmentMegabyte), nullptr);
}

TEST_F(SegmentPoolTest, DoesNotSpendManyWarmPagesOnLittleData) {
  Filled(64 * kSegmentMegabyte);
  EXPECT_EQ(pool_->TakeIdle(kSegmentMegabyte), nullptr);
  EXPECT_NE(pool_->TakeIdle(16 * kSegmentMegabyte), nullptr);
}

TEST_F(SegmentPoolTest, WarmPagesThatWereNotUsedAreIdleAgain) {
  Filled(kSegmentMegabyte);
  EXPECT_EQ(budget_.used(), kSegmentMegabyte);
  auto lent = pool_->TakeIdle(kSegmentMegabyte);
  lent->Lend();
  lent->TakeBack();
  const int fd = lent->fd();
  lent.reset();
  EXPECT_EQ(budget_.used(), kSegmentMegabyte);
  lent = pool_->TakeIdle(kSegmentMegabyte);
  ASSERT_NE(lent, nullptr);
  EXPECT_EQ(lent->fd(), fd);
}

TEST_F(SegmentPoolTest, IdleMemoryIsBounded) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int i = 0; i < 3; ++i) made.push_back(Filled(40 * kSegmentMegabyte));
  made.clear();
  EXPECT_EQ(budget_.used(), 80 * kSegmentMegabyte);
}

TEST_F(SegmentPoolTest, SmallSegmentsAreNotKeptOpen) {
  Filled(1000);
  EXPECT_EQ(budget_.used(), 0);
}

TEST_F(SegmentPoolTest, NumberOfIdleSegmentsIsBounded) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int i = 0; i < 500; ++i) made.push_back(Filled(100 << 10));
  made.clear();
  EXPECT_EQ(budget_.used(), 256 * (100 << 10));
}

TEST_F(SegmentPoolTest, IdleMemoryIsFreedWhenTheBudgetNeedsRoom) {
  Filled(10 * kSegmentMegabyte);
  EXPECT_EQ(budget_.used(), 10 * kSegmentMegabyte);
  ASSERT_OK(budget_.MakeRoom(budget_.limit()));
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_EQ(budget_.spilled_bytes(), 0);
}

TEST_F(SegmentPoolTest, ABudgetOutlivesAPool) {
  Filled(kSegmentMegabyte);
  pool_.reset();
  EXPECT_EQ(budget_.used(), 0);
  ASSERT_OK(budget_.MakeRoom(budget_.limit()));
}

TEST_F(SegmentPoolTest, AdoptedSegmentsAreCountedAndUsedAgain) {
  auto made = Filled(kSegmentMegabyte);
  const int fd = dup(made->fd());
  made.reset();
  pool_->ReleaseIdle();
  auto adopted = pool_->Adopt(SegmentKind::kMemory, fd, kSegmentMegabyte);
  EXPECT_EQ(budget_.used(), kSegmentMegabyte);
  adopted.reset();
  EXPECT_EQ(budget_.used(), kSegmentMegabyte);
  auto again = pool_->TakeIdle(kSegmentMegabyte);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->fd(), fd);
}

TEST_F(SegmentPoolTest, OfferedSegmentIsUsedIfItFits) {
  auto source = Filled(8 * kSegmentMegabyte);
  for (const bool suits : {false, true}) {
    ASSERT_OK_AND_ASSIGN(auto blank,
                         Segment::Adopt(SegmentKind::kMemory, dup(source->fd()), 0));
    pool_->Offer(blank);
    ASSERT_OK_AND_ASSIGN(auto made, pool_->Create(SegmentKind::kMemory,
                                                  suits ? 4 * kSegmentMegabyte : 1000));
    EXPECT_EQ(made == blank, suits);
    pool_->WithdrawOffers();
    ASSERT_OK_AND_ASSIGN(auto other,
                         pool_->Create(SegmentKind::kMemory, 4 * kSegmentMegabyte));
    EXPECT_NE(other, blank);
  }
}

TEST_F(SegmentPoolTest, SmallStoresShareASegmentOnceManyAreOpen) {
  for (const auto kind : {SegmentKind::kMemory, SegmentKind::kDisk}) {
    std::vector<std::shared_ptr<Segment>> own;
    while (!pool_->WouldShare(100)) {
      ASSERT_OK_AND_ASSIGN(auto segment, pool_->ForStore(kind, 100));
      EXPECT_FALSE(segment->has_many_stores());
      own.push_back(std::move(segment));
    }
    EXPECT_EQ(own.size(), 64);
    ASSERT_OK_AND_ASSIGN(auto first, pool_->ForStore(kind, 100));
    ASSERT_OK_AND_ASSIGN(auto second, pool_->ForStore(kind, 100));
    EXPECT_EQ(first, second);
    EXPECT_EQ(first->kind(), kind);
    ASSERT_OK_AND_ASSIGN(auto large, pool_->ForStore(kind, kSegmentMegabyte));
    EXPECT_NE(large, first);
  }
}

TEST_F(SegmentPoolTest, ASharedSegmentEndsWhenItIsFull) {
  std::vector<std::shared_ptr<Segment>> own;
  while (!pool_->WouldShare(kSegmentMegabyte)) own.push_back(Filled(1000));
  ASSERT_OK_AND_ASSIGN(auto first,
                       pool_->ForStore(SegmentKind::kMemory, kSegmentMegabyte));
  const auto bytes = arrow::Buffer::FromString(std::string(kSegmentMegabyte, 'y'));
  for (int i = 0; i < 16; ++i) ASSERT_OK(first->Append(*bytes));
  ASSERT_OK_AND_ASSIGN(auto next,
                       pool_->ForStore(SegmentKind::kMemory, kSegmentMegabyte));
  EXPECT_NE(next, first);
}

}  // namespace
}  // namespace xshards
