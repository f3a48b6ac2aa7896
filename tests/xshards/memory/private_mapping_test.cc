// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/private_mapping.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/xshards/memory/private_segment.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::PrivateSegment;

constexpr int64_t kRows = 10000;  // twenty pages of a column

TEST(PrivateMemory, FindsWhereMemoryWasMappedFrom) {
  PrivateSegment input(*Numbered(kRows));
  const auto* ids = reinterpret_cast<uint8_t*>(input.Values<int64_t>(0));
  auto place = input.memory().Find(ids, 8 * kRows);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->segment, input.segment());
  ASSERT_OK_AND_ASSIGN(auto mapping, Segment::Map(input.segment()));
  EXPECT_EQ(mapping->data() + place->offset, ids);
}

TEST(PrivateMemory, DoesNotFindOtherMemory) {
  PrivateSegment input(*Numbered(kRows));
  const std::vector<uint8_t> other(100);
  EXPECT_FALSE(input.memory().Find(other.data(), 100).has_value());
  EXPECT_FALSE(input.memory().IsUnchanged(other.data(), 100));
  EXPECT_FALSE(input.memory().Lend(other.data(), 100).has_value());
  // Nor of bytes that only begin in a segment, or of no bytes.
  const auto* ids = reinterpret_cast<uint8_t*>(input.Values<int64_t>(0));
  EXPECT_FALSE(input.memory().Find(ids, input.segment()->size() + 1).has_value());
  EXPECT_FALSE(input.memory().Find(ids, 0).has_value());
}

TEST(PrivateMemory, DetectsExactlyTheChangedBytes) {
  PrivateSegment input(*Numbered(kRows));
  int64_t* ids = input.Values<int64_t>(0);
  const auto* bytes = reinterpret_cast<uint8_t*>(ids);
  EXPECT_TRUE(input.memory().IsUnchanged(bytes, 8 * kRows));
  ids[5000] = -1;
  EXPECT_FALSE(input.memory().IsUnchanged(bytes, 8 * kRows));
  // The page was copied, but the bytes beside the change are those of the segment.
  EXPECT_TRUE(input.memory().IsUnchanged(bytes, 8 * 5000));
  EXPECT_TRUE(input.memory().IsUnchanged(bytes + 8 * 5001, 8 * (kRows - 5001)));
  ids[5000] = 5000;
  EXPECT_TRUE(input.memory().IsUnchanged(bytes, 8 * kRows));
  EXPECT_TRUE(input.Original()->Equals(*Numbered(kRows)));
}

TEST(PrivateMemory, LendsNoByteTwice) {
  PrivateSegment input(*Numbered(kRows));
  auto* bytes = reinterpret_cast<uint8_t*>(input.Values<int64_t>(0));
  auto loan = input.memory().Lend(bytes + 100, 100);
  ASSERT_TRUE(loan.has_value());
  EXPECT_EQ(loan->data, bytes + 100);
  EXPECT_FALSE(input.memory().Lend(bytes + 100, 100).has_value());
  EXPECT_FALSE(input.memory().Lend(bytes + 199, 10).has_value());
  EXPECT_FALSE(input.memory().Lend(bytes + 50, 51).has_value());
  EXPECT_FALSE(input.memory().Lend(bytes, 1000).has_value());
  EXPECT_TRUE(input.memory().Lend(bytes + 200, 10).has_value());
  EXPECT_TRUE(input.memory().Lend(bytes + 50, 50).has_value());
  input.memory().EndLoans();
  EXPECT_TRUE(input.memory().Lend(bytes, 1000).has_value());
}

TEST(PrivateMemory, LendsOwnBuffersAsLongAsTheyLive) {
  PrivateSegment input(*Numbered(1));
  std::shared_ptr<arrow::Buffer> own = *arrow::AllocateBuffer(64);
  const uint8_t* data = own->data();
  input.memory().Add(own);
  EXPECT_FALSE(input.memory().Find(data, 64).has_value());
  {
    auto loan = input.memory().Lend(data, 32);
    ASSERT_TRUE(loan.has_value());
    EXPECT_EQ(loan->owner, own);
  }
  own.reset();
  EXPECT_FALSE(input.memory().Lend(data + 32, 32).has_value());
}

TEST(PrivateMemory, ReportsMappingsThatOutliveIt) {
  PrivateSegment input(*Numbered(kRows));
  for (const bool kept : {false, true}) {
    ASSERT_OK_AND_ASSIGN(
        auto segment, Segment::Adopt(SegmentKind::kMemory, dup(input.segment()->fd()),
                                     input.segment()->size(), SegmentMapping::kPrivate));
    ASSERT_OK_AND_ASSIGN(auto memory, PrivateMemory::Map(std::vector{segment}));
    const uint8_t* data = Segment::Map(segment).ValueOrDie()->data();
    auto loan = memory->Lend(data, 8);
    ASSERT_TRUE(loan.has_value());
    if (!kept) loan.reset();
    auto mappings = std::move(*memory).Release();
    ASSERT_EQ(mappings.size(), 1);
    EXPECT_EQ(mappings[0].expired(), !kept);
  }
}

TEST(PrivateMemory, SkipsEmptyAndDiskSegments) {
  testing::TemporaryDirectory directory;
  MemoryBudget budget(1 << 30);
  ASSERT_OK_AND_ASSIGN(auto pool, SegmentPool::Make(directory.path(), &budget, 0));
  ASSERT_OK_AND_ASSIGN(auto disk, pool->Create(SegmentKind::kDisk));
  ASSERT_OK(disk->Append(*Numbered(10)));
  ASSERT_OK_AND_ASSIGN(auto blank, pool->Create(SegmentKind::kMemory));
  ASSERT_OK_AND_ASSIGN(auto memory, PrivateMemory::Map(std::vector{disk, blank}));
  auto mappings = std::move(*memory).Release();
  ASSERT_EQ(mappings.size(), 2);
  EXPECT_TRUE(mappings[0].expired());
  EXPECT_TRUE(mappings[1].expired());
}

}  // namespace
}  // namespace xshards
