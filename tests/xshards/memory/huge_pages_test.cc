// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/huge_pages.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace xshards {
namespace {

/// Two huge pages and some more of shared memory.
class HugePages : public ::testing::Test {
 protected:
  void SetUp() override {
    fd_ = memfd_create("huge-pages-test", MFD_CLOEXEC);
    ASSERT_GE(fd_, 0);
    ASSERT_EQ(ftruncate(fd_, kSize), 0);
  }
  void TearDown() override { close(fd_); }

  std::byte* Map(int64_t size, int64_t offset) const {
    void* data = MapForHugePages(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
    return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
  }

  static constexpr int64_t kSize = 2 * kHugePage + 5000;
  int fd_ = -1;
};

int64_t FromHugePage(const std::byte* data) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data)) % kHugePage;
}

TEST_F(HugePages, MappingIsAlignedLikeItsOffset) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  for (const int64_t offset : {int64_t{0}, page, 3 * page, kHugePage, kHugePage + page}) {
    std::byte* mapped = Map(page, offset);
    ASSERT_NE(mapped, nullptr);
    EXPECT_EQ(FromHugePage(mapped), offset % kHugePage);
    munmap(mapped, static_cast<size_t>(page));
  }
}

TEST_F(HugePages, FailedMappingReturnsMapFailed) {
  EXPECT_EQ(MapForHugePages(4096, PROT_READ, MAP_SHARED, -1, 0), MAP_FAILED);
}

TEST_F(HugePages, UsingThemDoesNotChangeBytes) {
  std::byte* data = Map(kSize, 0);
  ASSERT_NE(data, nullptr);
  std::memset(data, 1, kSize);
  data[kHugePage] = std::byte{2};
  UseHugePages(data + 100, kSize - 100);  // from the middle of one on
  for (int64_t at = 0; at < kSize; ++at) {
    ASSERT_EQ(data[at], std::byte{at == kHugePage ? uint8_t{2} : uint8_t{1}}) << at;
  }
  munmap(data, kSize);
}

TEST_F(HugePages, ThereMayBeNone) {
  std::byte* data = Map(4096, 0);
  ASSERT_NE(data, nullptr);
  UseHugePages(data, 4096);
  UseHugePages(data, 0);
  EXPECT_EQ(data[0], std::byte{0});
  munmap(data, 4096);
}

}  // namespace
}  // namespace xshards
