// SPDX-License-Identifier: Apache-2.0
#include "io/text/buffer_sizing.h"

#include <cstring>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

TEST(PackedRows, GivesAtLeastHalfOfTheWantedRows) {
  for (int64_t wanted = 1; wanted < 100000; ++wanted) {
    const int64_t rows = PackedRows(wanted);
    ASSERT_GT(rows, 0);
    ASSERT_LE(rows, wanted);
    ASSERT_GE(rows * 2 + 16, wanted);
  }
  EXPECT_EQ(PackedRows(34379), 32752);
  EXPECT_EQ(PackedRows(32752), 32752);
  EXPECT_EQ(PackedRows(32751), 16368);
}

TEST(PackedBytes, HoldsTheRequestedBytes) {
  for (const int64_t size : {0L, 1L, 100000L, 524288L, 524289L, 1000000L, 1L << 32}) {
    EXPECT_GE(PackedBytes(size), size);
    EXPECT_LT(PackedBytes(size), size + (64 << 10));
  }
}

TEST(GiveBackTail, KeepsUsedBytes) {
  constexpr int64_t kSize = 1 << 20;
  for (const int64_t used :
       {int64_t{0}, int64_t{1}, int64_t{4096}, int64_t{600001}, kSize}) {
    ASSERT_OK_AND_ASSIGN(const auto buffer, arrow::AllocateResizableBuffer(kSize));
    std::memset(buffer->mutable_data(), 7, kSize);
    GiveBackTail(buffer.get(), used);
    for (int64_t i = 0; i < used; ++i) ASSERT_EQ(buffer->data()[i], 7);
    // The rest can be written again.
    std::memset(buffer->mutable_data() + used, 8, static_cast<size_t>(kSize - used));
    ASSERT_OK(buffer->Resize(used));
  }
}

}  // namespace
}  // namespace xshards::io
