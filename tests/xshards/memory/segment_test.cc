// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/segment.h"

#include <algorithm>
#include <limits>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/memory/segment_pool.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TemporaryDirectory;

class SegmentTest : public ::testing::TestWithParam<SegmentKind> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(pool_, SegmentPool::Make(directory_.path(), &budget_, 1 << 20));
  }

  TemporaryDirectory directory_;
  MemoryBudget budget_{1LL << 30};
  std::unique_ptr<SegmentPool> pool_;
};

TEST_P(SegmentTest, ReadsEachAppendedBatch) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches = {Numbered(100), Numbered(0),
                                                              Numbered(1)};
  std::vector<Segment::Range> ranges;
  for (const auto& batch : batches) {
    ASSERT_OK_AND_ASSIGN(auto range, segment->Append(*batch));
    ranges.push_back(range);
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    ASSERT_OK_AND_ASSIGN(auto batch, Segment::Read(segment, ranges[i], budget_.pool()));
    EXPECT_TRUE(batch->Equals(*batches[i]));
  }
}

TEST_P(SegmentTest, ReadsBatchesAppendedAfterAnEarlierRead) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
  ASSERT_OK_AND_ASSIGN(auto first, segment->Append(*Numbered(10)));
  ASSERT_OK_AND_ASSIGN(auto kept, Segment::Read(segment, first, budget_.pool()));
  ASSERT_OK_AND_ASSIGN(auto second, segment->Append(*Numbered(50000)));
  ASSERT_OK_AND_ASSIGN(auto later, Segment::Read(segment, second, budget_.pool()));
  EXPECT_TRUE(later->Equals(*Numbered(50000)));
  EXPECT_TRUE(kept->Equals(*Numbered(10)));
}

TEST_P(SegmentTest, ABatchOutlivesItsSegmentHandle) {
  std::shared_ptr<arrow::RecordBatch> batch;
  {
    ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
    ASSERT_OK_AND_ASSIGN(auto range, segment->Append(*Numbered(1000)));
    ASSERT_OK_AND_ASSIGN(batch, Segment::Read(segment, range, budget_.pool()));
  }
  // Another segment must not be given the pages that the batch still shows.
  ASSERT_OK_AND_ASSIGN(auto other, pool_->Create(GetParam()));
  ASSERT_OK(other->Append(*Numbered(1000, 3, 77)));
  EXPECT_TRUE(batch->Equals(*Numbered(1000)));
}

TEST_P(SegmentTest, LeavesNothingInTheSpillDirectory) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
  ASSERT_OK(segment->Append(*Numbered(1000)));
  EXPECT_TRUE(directory_.List().empty());
}

TEST_P(SegmentTest, AnotherHolderOfTheDescriptorReadsTheSameBytes) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
  ASSERT_OK_AND_ASSIGN(auto range, segment->Append(*Numbered(1000)));
  ASSERT_OK_AND_ASSIGN(auto adopted,
                       Segment::Adopt(GetParam(), dup(segment->fd()), segment->size()));
  ASSERT_OK_AND_ASSIGN(auto batch, Segment::Read(adopted, range, budget_.pool()));
  EXPECT_TRUE(batch->Equals(*Numbered(1000)));
}

TEST_P(SegmentTest, ChecksWhatItReads) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
  ASSERT_OK_AND_ASSIGN(const auto range, segment->Append(*Numbered(1000)));
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (const Segment::Range wrong : {Segment::Range{-1, 10},
                                     {0, -1},
                                     {0, kHuge},
                                     {kHuge, 1},
                                     {kHuge, kHuge},
                                     {8, range.length}}) {
    EXPECT_FAILS(Invalid, "segment", Segment::Read(segment, wrong, budget_.pool()));
  }
  // Bytes of a stored block that its disk, or its writer, got wrong.
  int num_errors = 0;
  for (int64_t at = 0; at < range.length; at += 4) {
    uint32_t kept = 0;
    ASSERT_EQ(pread(segment->fd(), &kept, 4, range.offset + at), 4);
    for (const uint32_t wrong : {0U, ~0U, 0x7FFFFFFFU, 0x80000000U}) {
      ASSERT_EQ(pwrite(segment->fd(), &wrong, 4, range.offset + at), 4);
      const auto batch = Segment::Read(segment, range, budget_.pool());
      num_errors += batch.ok() ? 0 : 1;
      if (batch.ok()) EXPECT_OK((*batch)->Validate());
    }
    ASSERT_EQ(pwrite(segment->fd(), &kept, 4, range.offset + at), 4);
    if (at == 1024) at = std::max<int64_t>(at, range.length - 64);
  }
  EXPECT_GT(num_errors, 100);
  ASSERT_OK(Segment::Read(segment, range, budget_.pool()));
}

TEST_P(SegmentTest, ASegmentThatWasCutIsAnError) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(GetParam()));
  ASSERT_OK_AND_ASSIGN(const auto range, segment->Append(*Numbered(100000)));
  ASSERT_EQ(ftruncate(segment->fd(), 4096), 0);
  EXPECT_FAILS(IOError, "", Segment::Read(segment, range, budget_.pool()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SegmentTest,
                         ::testing::Values(SegmentKind::kMemory, SegmentKind::kDisk));

TEST_F(SegmentTest, MemoryIsCountedAndDiskIsCountedAsSpilled) {
  ASSERT_OK_AND_ASSIGN(auto memory, pool_->Create(SegmentKind::kMemory));
  ASSERT_OK(memory->Append(*Numbered(10000)));
  EXPECT_EQ(budget_.used(), memory->size());
  EXPECT_EQ(budget_.spilled_bytes(), 0);
  ASSERT_OK_AND_ASSIGN(auto disk, pool_->Create(SegmentKind::kDisk));
  ASSERT_OK(disk->Append(*Numbered(10000)));
  EXPECT_EQ(budget_.used(), memory->size());
  EXPECT_GT(budget_.spilled_bytes(), 0);
}

TEST_F(SegmentTest, DroppedMemoryIsReusedOnceThenFreed) {
  int descriptor = -1;
  int64_t size = 0;
  {
    ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(SegmentKind::kMemory));
    ASSERT_OK(segment->Append(*Numbered(10000)));
    descriptor = segment->fd();
    size = segment->size();
  }
  EXPECT_EQ(budget_.used(), size);  // idle pages are still memory
  {
    ASSERT_OK_AND_ASSIGN(auto again, pool_->Create(SegmentKind::kMemory));
    EXPECT_EQ(again->fd(), descriptor);
    EXPECT_EQ(again->size(), 0);
    ASSERT_OK_AND_ASSIGN(auto range, again->Append(*Numbered(10, 3, 5)));
    ASSERT_OK_AND_ASSIGN(auto batch, Segment::Read(again, range, budget_.pool()));
    EXPECT_TRUE(batch->Equals(*Numbered(10, 3, 5)));
  }
  pool_->ReleaseIdle();
  EXPECT_EQ(budget_.used(), 0);
}

TEST_F(SegmentTest, LentMemoryIsReusedOnlyOnceItIsTakenBack) {
  for (const bool taken_back : {false, true}) {
    {
      ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(SegmentKind::kMemory));
      ASSERT_OK(segment->Append(*Numbered(10000)));
      segment->Lend();
      segment->Lend();
      segment->TakeBack();
      if (taken_back) segment->TakeBack();
    }
    EXPECT_EQ(budget_.used() > 0, taken_back);
  }
}

TEST_F(SegmentTest, RawBytesAreAppendedUnchanged) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(SegmentKind::kMemory));
  ASSERT_OK(segment->Append(*arrow::Buffer::FromString("abc")));
  ASSERT_OK_AND_ASSIGN(auto range, segment->Append(*arrow::Buffer::FromString("defg")));
  EXPECT_EQ(range.offset % 64, 0);
  EXPECT_EQ(range.length, 4);
  ASSERT_OK_AND_ASSIGN(auto mapping, Segment::Map(segment));
  EXPECT_EQ(arrow::SliceBuffer(mapping, range.offset, range.length)->ToString(), "defg");
}

TEST_F(SegmentTest, ChangesInAPrivateMappingStayPrivate) {
  ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(SegmentKind::kMemory));
  ASSERT_OK(segment->Append(*arrow::Buffer::FromString("abc")));
  ASSERT_OK_AND_ASSIGN(
      auto own, Segment::Adopt(SegmentKind::kMemory, dup(segment->fd()), segment->size(),
                               SegmentMapping::kPrivate));
  ASSERT_OK_AND_ASSIGN(auto mapping, Segment::Map(own));
  const_cast<uint8_t*>(mapping->data())[0] = 'X';
  EXPECT_EQ(mapping->ToString(), "Xbc");
  ASSERT_OK_AND_ASSIGN(auto original, Segment::Map(segment));
  EXPECT_EQ(original->ToString(), "abc");
}

}  // namespace
}  // namespace xshards
