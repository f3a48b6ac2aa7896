// SPDX-License-Identifier: Apache-2.0
#include "io/text/line_starts.h"

#include <string>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>

#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

TEST(LineStarts, FindsLineStartsAroundTargets) {
  const std::string text = "one\ntwo\n\nthree";
  arrow::io::BufferReader file(arrow::Buffer::FromString(text));
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t target = 1; target < size; ++target) {
    const size_t line_feed = text.find('\n', static_cast<size_t>(target - 1));
    ASSERT_OK_AND_ASSIGN(const auto starts, FindLineStarts(file, size, {target},
                                                           arrow::default_memory_pool()));
    if (line_feed == std::string::npos) {
      EXPECT_TRUE(starts.empty());
    } else {
      EXPECT_THAT(starts, ElementsAre(static_cast<int64_t>(line_feed) + 1));
    }
  }
}

}  // namespace
}  // namespace xshards::io
