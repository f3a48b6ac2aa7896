// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/mapping_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/memory/segment_pool.h"

namespace xshards {
namespace {

using testing::Numbered;

constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kWriter = 7;

class WarmMappingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(pool_, SegmentPool::Make(directory_.path(), &budget_, kIdle));
  }

  std::shared_ptr<Segment> Filled(int64_t num_bytes) {
    auto segment = pool_->Create(SegmentKind::kMemory, num_bytes).ValueOrDie();
    const std::string bytes(static_cast<size_t>(num_bytes), 'x');
    EXPECT_TRUE(segment->Append(*arrow::Buffer::FromString(bytes)).ok());
    return segment;
  }

  /// Another process's handle of a segment that it is lent empty.
  static std::shared_ptr<Segment> Blank(const Segment& lent) {
    return Segment::Adopt(SegmentKind::kMemory, dup(lent.fd()), 0).ValueOrDie();
  }

  static int64_t SizeOf(int fd) {
    struct stat status{};
    EXPECT_EQ(fstat(fd, &status), 0);
    return status.st_size;
  }

  static constexpr int64_t kIdle = 100 * kMegabyte;
  testing::TemporaryDirectory directory_;
  MemoryBudget budget_{1LL << 30};
  std::unique_ptr<SegmentPool> pool_;
  WarmMappings warm_;
};

TEST_F(WarmMappingsTest, WritesReachTheSegment) {
  auto segment = Filled(kMegabyte);
  auto blank = Blank(*segment);
  blank->WriteThrough(&warm_);
  const auto batch = Numbered(10'000);
  ASSERT_OK_AND_ASSIGN(auto first, blank->Append(*batch));
  ASSERT_OK_AND_ASSIGN(auto second, blank->Append(*batch));
  EXPECT_EQ(warm_.size(), 1);
  segment->SetWritten(blank->size());
  for (const auto& range : {first, second}) {
    ASSERT_OK_AND_ASSIGN(auto read,
                         Segment::Read(segment, range, arrow::default_memory_pool()));
    EXPECT_TRUE(read->Equals(*batch));
  }
}

TEST_F(WarmMappingsTest, WritesMayExceedTheMappedPages) {
  auto segment = Filled(kMegabyte);
  auto blank = Blank(*segment);
  blank->WriteThrough(&warm_);
  const auto batch = Numbered(300'000);
  ASSERT_OK_AND_ASSIGN(auto range, blank->Append(*batch));
  ASSERT_GT(range.length, 3 * kMegabyte);
  segment->SetWritten(blank->size());
  ASSERT_OK_AND_ASSIGN(auto read,
                       Segment::Read(segment, range, arrow::default_memory_pool()));
  EXPECT_TRUE(read->Equals(*batch));
  // The next time all of it is mapped.
  EXPECT_EQ(std::ssize(warm_.Map(*segment)), segment->size());
  EXPECT_EQ(warm_.size(), 1);
}

TEST_F(WarmMappingsTest, TheSameSegmentHasOneMapping) {
  auto segment = Filled(kMegabyte);
  const auto pages = warm_.Map(*segment);
  ASSERT_EQ(std::ssize(pages), kMegabyte);
  EXPECT_EQ(warm_.Map(*Blank(*segment)).data(), pages.data());
  EXPECT_EQ(warm_.size(), 1);
}

TEST_F(WarmMappingsTest, FewPagesAndFilesAreNotMapped) {
  EXPECT_TRUE(warm_.Map(*Filled(1000)).empty());
  ASSERT_OK_AND_ASSIGN(auto disk, pool_->Create(SegmentKind::kDisk));
  ASSERT_OK(disk->Append(*Numbered(100'000)));
  EXPECT_TRUE(warm_.Map(*disk).empty());
  EXPECT_EQ(warm_.size(), 0);
}

TEST_F(WarmMappingsTest, AreBounded) {
  for (int i = 0; i < 200; ++i) {
    warm_.Map(*Filled(300 << 10));
    pool_->ReleaseIdle();
  }
  EXPECT_EQ(warm_.size(), 64);
}

TEST_F(WarmMappingsTest, PinNoPagesAfterThePoolClosesTheSegment) {
  for (const bool lent_again : {false, true}) {
    auto made = Filled(kMegabyte);
    const int theirs = dup(made->fd());
    made.reset();
    auto segment = pool_->TakeIdle(kMegabyte);
    segment->LendBlank(kWriter);
    warm_.Map(*segment);
    if (!lent_again) segment->TakeBack();
    segment.reset();
    EXPECT_EQ(SizeOf(theirs), lent_again ? 0 : kMegabyte);  // idle, if it was given back
    pool_->ReleaseIdle();
    EXPECT_EQ(SizeOf(theirs), 0);
    EXPECT_EQ(budget_.used(), 0);
    close(theirs);
  }
}

TEST_F(WarmMappingsTest, PagesReadByAnotherProcessStay) {
  auto made = Filled(kMegabyte);
  const int theirs = dup(made->fd());
  auto segment = pool_->Adopt(SegmentKind::kMemory, dup(made->fd()), kMegabyte, kWriter);
  segment->Lend();
  segment.reset();
  EXPECT_EQ(SizeOf(theirs), kMegabyte);
  close(theirs);
}

TEST_F(WarmMappingsTest, WriterIsLentTheSegmentItHasMapped) {
  std::vector<std::shared_ptr<Segment>> made;
  for (int64_t writer = 1; writer <= 3; ++writer) {
    auto source = Filled(kMegabyte + writer);
    made.push_back(pool_->Adopt(SegmentKind::kMemory, dup(source->fd()),
                                kMegabyte + writer, writer));
  }
  const int third = made[2]->fd();
  const int first = made[0]->fd();
  made.clear();
  // The three they were copied from are idle too: no other process has them mapped.
  EXPECT_EQ(pool_->TakeIdle(kMegabyte, 3)->fd(), third);
  EXPECT_EQ(pool_->TakeIdle(kMegabyte, 1)->fd(), first);
}

}  // namespace
}  // namespace xshards
