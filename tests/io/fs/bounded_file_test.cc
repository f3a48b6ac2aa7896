// SPDX-License-Identifier: Apache-2.0
#include "io/fs/bounded_file.h"

#include <cstring>
#include <filesystem>
#include <limits>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/memory/memory_budget.h"

namespace xshards::io {
namespace {

TEST(BoundedFile, AllocatesNoMoreThanTheFileHas) {
  const xshards::testing::TemporaryDirectory directory;
  const auto path = directory.Write("t.bin", "0123456789");
  MemoryBudget budget(1 << 20);
  int64_t count = 0;
  ASSERT_OK_AND_ASSIGN(const auto file, BoundedFile::Open(path, budget.pool(), &count));
  ASSERT_OK_AND_ASSIGN(const auto end,
                       file->ReadAt(7, std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(end->ToString(), "789");
  EXPECT_EQ(count, 3);
  EXPECT_LT(budget.peak(), 1000);
  EXPECT_GT(budget.peak(), 0);
  ASSERT_OK_AND_ASSIGN(const auto none,
                       file->ReadAt(std::numeric_limits<int64_t>::max(), 5));
  EXPECT_EQ(none->size(), 0);
  EXPECT_FAILS(Invalid, "-1", file->ReadAt(-1, 5));
  EXPECT_FAILS(Invalid, "-5", file->ReadAt(0, -5));
}

TEST(BoundedFile, ReadsLocalFilesOnTheCallingThread) {
  const xshards::testing::TemporaryDirectory directory;
  const auto path = directory.Write("t.bin", "0123456789");
  MemoryBudget budget(1 << 20);
  ASSERT_OK_AND_ASSIGN(const auto file, BoundedFile::Open(path, budget.pool()));
  const auto read = file->ReadAsync(arrow::io::default_io_context(), 2, 3);
  // No thread of Arrow's holds the buffer, which the pool must outlive.
  ASSERT_TRUE(read.is_finished());
  ASSERT_OK_AND_ASSIGN(const auto buffer, read.result());
  EXPECT_EQ(buffer->ToString(), "234");
  const auto refused = file->ReadAsync(arrow::io::default_io_context(), -1, 5);
  EXPECT_FAILS(Invalid, "-1", refused.result());
}

TEST(BoundedFile, ReadsOnFromWhereItIs) {
  const xshards::testing::TemporaryDirectory directory;
  const auto path = directory.Write("t.bin", "0123456789");
  ASSERT_OK_AND_ASSIGN(const auto file,
                       BoundedFile::Open(path, arrow::default_memory_pool()));
  ASSERT_OK(file->Seek(2));
  ASSERT_OK_AND_ASSIGN(const auto some, file->Read(3));
  EXPECT_EQ(some->ToString(), "234");
  char rest[16];
  ASSERT_OK_AND_ASSIGN(const int64_t got, file->Read(16, rest));
  EXPECT_EQ(std::string(rest, static_cast<size_t>(got)), "56789");
  ASSERT_OK_AND_ASSIGN(const int64_t position, file->Tell());
  EXPECT_EQ(position, 10);
}

TEST(BoundedFile, SaysThatAFileWasCutWhileItWasRead) {
  const xshards::testing::TemporaryDirectory directory;
  const auto path = directory.Write("t.bin", "0123456789");
  ASSERT_OK_AND_ASSIGN(const auto file,
                       BoundedFile::Open(path, arrow::default_memory_pool()));
  std::filesystem::resize_file(path, 4);
  EXPECT_FAILS(IOError, "shorter", file->ReadAt(0, 10));
  EXPECT_FAILS(IOError, "shorter", file->ReadAt(8, 1));
}

}  // namespace
}  // namespace xshards::io
