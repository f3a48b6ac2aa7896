// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/collected.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Numbered;

Partition Rows(int64_t count) {
  const auto batch = Numbered(count);
  return Partition::FromPayload(Payload::Table(batch->schema(), {batch}));
}

TEST(LoadAll, GivesAnEmptyTableForAPartitionWithoutPayloads) {
  const std::vector<Partition> partitions = {Rows(3), Partition(), Rows(2)};
  ASSERT_OK_AND_ASSIGN(const auto loaded,
                       LoadAll(partitions, arrow::StopToken::Unstoppable()));
  ASSERT_EQ(loaded.size(), 3);
  ASSERT_EQ(loaded[1].size(), 1);
  EXPECT_EQ(loaded[1][0].kind(), PayloadKind::kTable);
  EXPECT_EQ(loaded[1][0].num_rows(), 0);
  EXPECT_TRUE(loaded[1][0].schema()->Equals(*Numbered(0)->schema()));
  EXPECT_EQ(loaded[2][0].num_rows(), 2);
  EXPECT_EQ(NumRows(partitions), 5);
}

TEST(LoadAll, LeavesPartitionsWithoutACommonTypeAlone) {
  ASSERT_OK_AND_ASSIGN(const auto object,
                       Payload::Object(arrow::Buffer::FromString("pickle"), {}));
  ASSERT_OK_AND_ASSIGN(const auto loaded,
                       LoadAll({Partition::FromPayload(object), Partition()},
                               arrow::StopToken::Unstoppable()));
  ASSERT_EQ(loaded[0].size(), 1);
  EXPECT_EQ(loaded[0][0].kind(), PayloadKind::kObject);
  EXPECT_TRUE(loaded[1].empty());
}

TEST(LoadAll, Stops) {
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_TRUE(LoadAll({Rows(1)}, source.token()).status().IsCancelled());
}

}  // namespace
}  // namespace xshards
