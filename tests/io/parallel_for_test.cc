// SPDX-License-Identifier: Apache-2.0
#include "io/parallel_for.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

TEST(ParallelFor, DoesEachOnce) {
  for (const int num_threads : {0, 1, 3, 200}) {
    std::vector<std::atomic<int>> calls(100);
    ASSERT_OK(ParallelFor(calls.size(), num_threads, [&](size_t i) {
      ++calls[i];
      return arrow::Status::OK();
    }));
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
  ASSERT_OK(ParallelFor(0, 2, [](size_t) { return arrow::Status::Invalid("called"); }));
}

TEST(ParallelFor, ReturnsTheFirstError) {
  const auto status = ParallelFor(50, 2, [](size_t i) {
    return i % 10 == 7 ? arrow::Status::Invalid("at ", i) : arrow::Status::OK();
  });
  EXPECT_EQ(status.message(), "at 7");
}

}  // namespace
}  // namespace xshards::io
