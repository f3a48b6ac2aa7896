// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/lent_partitions.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/collected.h"

namespace xshards::learn {
namespace {

using ::xshards::testing::Numbered;
using ::xshards::testing::TestContext;

std::vector<Partition> Uneven() {
  std::vector<Partition> partitions;
  for (const int64_t size : {5, 0, 3}) {
    const auto batch = Numbered(size, 7, size);
    partitions.push_back(
        Partition::FromPayload(Payload::Table(batch->schema(), {batch})));
  }
  return partitions;
}

TEST(LentPartitions, AreReadInPlaceByWhoBorrowsThem) {
  const auto context = TestContext();  // its segments take the partitions' blocks
  const auto lent_by = Uneven();
  ASSERT_OK_AND_ASSIGN(const auto lent, LentPartitions::Make(context, lent_by));
  EXPECT_EQ(lent->num_rows(), 8);
  ASSERT_OK_AND_ASSIGN(
      const auto borrowed,
      BorrowedPartitions::Make(lent->bytes(), lent->segments(),
                               context->spill_directory(), int64_t{16} << 20));
  ASSERT_EQ(borrowed.partitions().size(), 3);
  EXPECT_NE(borrowed.pool(), nullptr);
  const auto never = arrow::StopToken::Unstoppable();
  ASSERT_OK_AND_ASSIGN(const auto expected, LoadAll(lent_by, never));
  ASSERT_OK_AND_ASSIGN(const auto read, LoadAll(borrowed.partitions(), never));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(read[i].size(), 1);
    ASSERT_EQ(read[i][0].num_rows(), expected[i][0].num_rows());
    EXPECT_TRUE(read[i][0].schema()->Equals(*expected[i][0].schema()));
  }
  EXPECT_TRUE(read[0][0].batches()[0]->Equals(*expected[0][0].batches()[0]));
}

TEST(LentPartitions, RejectsOtherFragmentsAndForeignBytes) {
  const auto context = TestContext();
  Fragment fragment;
  fragment.root = MakeNode(LimitNode{3}, {MakeNode(LiteralNode{.partitions = Uneven()})});
  ASSERT_OK_AND_ASSIGN(const auto encoded, EncodeFragment(fragment, context->storage()));
  EXPECT_FAILS(Invalid, "Expected encoded partitions, got a fragment: Limit",
               BorrowedPartitions::Make(encoded.bytes, encoded.segments,
                                        context->spill_directory(), 1 << 20));
  EXPECT_FALSE(BorrowedPartitions::Make(arrow::Buffer::FromString("x"), {},
                                        context->spill_directory(), 1 << 20)
                   .ok());
}

}  // namespace
}  // namespace xshards::learn
