// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/segment_pool.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

class SegmentPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(pool_,
                         SegmentPool::Make(directory_.path(), &budget_, 100 * kMegabyte));
  }

  /// A segment with so many bytes in it.
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

TEST_F(SegmentPoolTest, GivesTheSmallestIdleSegmentThatHoldsAll) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int64_t size : {8, 2, 4}) made.push_back(Filled(size * kMegabyte));
  const int small = made[1]->fd();
  const int middle = made[2]->fd();
  const int large = made[0]->fd();
  made.clear();
  auto first = pool_->TakeIdle(3 * kMegabyte);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->fd(), middle);
  EXPECT_EQ(first->size(), 0);
  EXPECT_EQ(first->num_warm_bytes(), 4 * kMegabyte);
  auto second = pool_->TakeIdle(3 * kMegabyte);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->fd(), large);
  auto third = pool_->TakeIdle(3 * kMegabyte);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(third->fd(), small);  // better than fresh pages for all of it
  EXPECT_EQ(pool_->TakeIdle(3 * kMegabyte), nullptr);
}

TEST_F(SegmentPoolTest, KeepsManyWarmPagesFromLyingUnderLittleData) {
  Filled(64 * kMegabyte);
  EXPECT_EQ(pool_->TakeIdle(kMegabyte), nullptr);
  EXPECT_NE(pool_->TakeIdle(16 * kMegabyte), nullptr);
}

TEST_F(SegmentPoolTest, WarmPagesThatWereNotUsedAreIdleAgain) {
  Filled(kMegabyte);
  EXPECT_EQ(budget_.used(), kMegabyte);
  auto lent = pool_->TakeIdle(kMegabyte);
  lent->Lend();
  lent->TakeBack();
  const int fd = lent->fd();
  lent.reset();
  EXPECT_EQ(budget_.used(), kMegabyte);
  lent = pool_->TakeIdle(kMegabyte);
  ASSERT_NE(lent, nullptr);
  EXPECT_EQ(lent->fd(), fd);
}

TEST_F(SegmentPoolTest, IdleMemoryIsBounded) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int i = 0; i < 3; ++i) made.push_back(Filled(40 * kMegabyte));
  made.clear();
  EXPECT_EQ(budget_.used(), 80 * kMegabyte);
}

TEST_F(SegmentPoolTest, SmallSegmentsAreNotKeptOpen) {
  Filled(1000);
  EXPECT_EQ(budget_.used(), 0);
}

TEST_F(SegmentPoolTest, IdleSegmentsAreNotMany) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int i = 0; i < 500; ++i) made.push_back(Filled(100 << 10));
  made.clear();
  EXPECT_EQ(budget_.used(), 256 * (100 << 10));
}

TEST_F(SegmentPoolTest, IdleMemoryGoesWhenTheBudgetNeedsRoom) {
  Filled(10 * kMegabyte);
  EXPECT_EQ(budget_.used(), 10 * kMegabyte);
  ASSERT_OK(budget_.MakeRoom(budget_.limit()));
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_EQ(budget_.spilled_bytes(), 0);
}

TEST_F(SegmentPoolTest, ABudgetOutlivesAPool) {
  Filled(kMegabyte);
  pool_.reset();
  EXPECT_EQ(budget_.used(), 0);
  ASSERT_OK(budget_.MakeRoom(budget_.limit()));
}

TEST_F(SegmentPoolTest, AdoptedSegmentsAreCountedAndUsedAgain) {
  auto made = Filled(kMegabyte);
  const int fd = dup(made->fd());
  made.reset();
  pool_->ReleaseIdle();
  auto adopted = pool_->Adopt(SegmentKind::kMemory, fd, kMegabyte);
  EXPECT_EQ(budget_.used(), kMegabyte);
  adopted.reset();
  EXPECT_EQ(budget_.used(), kMegabyte);
  auto again = pool_->TakeIdle(kMegabyte);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->fd(), fd);
}

TEST_F(SegmentPoolTest, AnOfferIsWrittenToIfItSuits) {
  auto source = Filled(8 * kMegabyte);
  for (const bool suits : {false, true}) {
    ASSERT_OK_AND_ASSIGN(auto blank,
                         Segment::Adopt(SegmentKind::kMemory, dup(source->fd()), 0));
    pool_->Offer(blank);
    ASSERT_OK_AND_ASSIGN(
        auto made, pool_->Create(SegmentKind::kMemory, suits ? 4 * kMegabyte : 1000));
    EXPECT_EQ(made == blank, suits);
    pool_->WithdrawOffers();
    ASSERT_OK_AND_ASSIGN(auto other, pool_->Create(SegmentKind::kMemory, 4 * kMegabyte));
    EXPECT_NE(other, blank);
  }
}

TEST_F(SegmentPoolTest, StoresOfFewBytesShareASegmentOnceManyAreOpen) {
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
    ASSERT_OK_AND_ASSIGN(auto large, pool_->ForStore(kind, kMegabyte));
    EXPECT_NE(large, first);
  }
}

TEST_F(SegmentPoolTest, ASharedSegmentEndsWhenItIsFull) {
  std::vector<std::shared_ptr<Segment>> own;
  while (!pool_->WouldShare(kMegabyte)) own.push_back(Filled(1000));
  ASSERT_OK_AND_ASSIGN(auto first, pool_->ForStore(SegmentKind::kMemory, kMegabyte));
  const auto bytes = arrow::Buffer::FromString(std::string(kMegabyte, 'y'));
  for (int i = 0; i < 16; ++i) ASSERT_OK(first->Append(*bytes));
  ASSERT_OK_AND_ASSIGN(auto next, pool_->ForStore(SegmentKind::kMemory, kMegabyte));
  EXPECT_NE(next, first);
}

}  // namespace
}  // namespace xshards
