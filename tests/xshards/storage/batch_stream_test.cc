// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/batch_stream.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(BatchStream, VectorStreamGivesItsBatchesInOrderThenTheEnd) {
  auto first = testing::Numbered(2);
  auto second = testing::Numbered(3);
  VectorStream stream(first->schema(), {first, second});
  ASSERT_OK_AND_ASSIGN(auto one, stream.Next());
  ASSERT_OK_AND_ASSIGN(auto two, stream.Next());
  ASSERT_OK_AND_ASSIGN(auto end, stream.Next());
  EXPECT_EQ(one->num_rows(), 2);
  EXPECT_EQ(two->num_rows(), 3);
  EXPECT_EQ(end, nullptr);
}

TEST(BatchStream, ReadAllOfAnEmptyStreamIsEmpty) {
  VectorStream stream(testing::Numbered(0)->schema(), {});
  ASSERT_OK_AND_ASSIGN(auto batches, ReadAll(stream));
  EXPECT_TRUE(batches.empty());
}

}  // namespace
}  // namespace xshards
