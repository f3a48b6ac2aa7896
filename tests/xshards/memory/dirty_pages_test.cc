// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/dirty_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards {
namespace {

constexpr int64_t kNumPages = 20;

/// A file of some pages in memory, mapped privately.
class TouchedPagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fd_ = memfd_create("touched_pages_test", MFD_CLOEXEC);
    const std::string content(static_cast<size_t>(kNumPages * page_), 'a');
    ASSERT_EQ(write(fd_, content.data(), content.size()), kNumPages * page_);
    void* address =
        mmap(nullptr, content.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd_, 0);
    ASSERT_NE(address, MAP_FAILED);
    data_ = static_cast<volatile char*>(address);
  }
  void TearDown() override {
    munmap(const_cast<char*>(data_), static_cast<size_t>(kNumPages * page_));
    close(fd_);
  }

  /// The numbers of the touched pages among those of a range, in bytes.
  std::vector<int64_t> Touched(int64_t offset, int64_t length) {
    std::vector<int64_t> numbers;
    const auto base = reinterpret_cast<uintptr_t>(data_);
    auto runs = TouchedPages().Find(const_cast<char*>(data_) + offset, length);
    EXPECT_TRUE(runs.ok()) << runs.status();
    for (auto [begin, end] : runs.ValueOrDie()) {
      for (auto at = begin; at < end; at += static_cast<uintptr_t>(page_)) {
        numbers.push_back(static_cast<int64_t>(at - base) / page_);
      }
    }
    return numbers;
  }

  const int64_t page_ = sysconf(_SC_PAGESIZE);
  int fd_ = -1;
  volatile char* data_ = nullptr;
};

using Numbers = std::vector<int64_t>;

TEST_F(TouchedPagesTest, UnreadAndReadPagesAreNotDirty) {
  EXPECT_EQ(Touched(0, kNumPages * page_), Numbers{});
  char sum = 0;
  for (int64_t i = 0; i < kNumPages; ++i) sum = static_cast<char>(sum + data_[i * page_]);
  EXPECT_NE(sum, 0);
  EXPECT_EQ(Touched(0, kNumPages * page_), Numbers{});
}

TEST_F(TouchedPagesTest, WrittenPagesAreDirty) {
  for (int64_t page : {0, 3, 4, 19}) data_[page * page_ + page] = 'b';
  EXPECT_EQ(Touched(0, kNumPages * page_), (Numbers{0, 3, 4, 19}));
}

TEST_F(TouchedPagesTest, ChecksEveryPageThatOverlapsTheRange) {
  for (int64_t page : {2, 3, 4, 5}) data_[page * page_] = 'b';
  EXPECT_EQ(Touched(3 * page_ - 1, 2), (Numbers{2, 3}));
  EXPECT_EQ(Touched(3 * page_, page_), (Numbers{3}));
  EXPECT_EQ(Touched(3 * page_ + 1, page_), (Numbers{3, 4}));
  EXPECT_EQ(Touched(6 * page_, page_), Numbers{});
}

TEST_F(TouchedPagesTest, WritingEqualBytesMakesAPageDirty) {
  data_[7 * page_] = 'a';
  EXPECT_EQ(Touched(0, kNumPages * page_), Numbers{7});
}

}  // namespace
}  // namespace xshards
