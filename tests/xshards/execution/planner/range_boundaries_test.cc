// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/range_boundaries.h"

#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Batch;
using testing::Numbered;

class RangeBoundariesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(arrow::compute::Initialize()); }
  static Partition Of(std::shared_ptr<arrow::RecordBatch> batch) {
    return Partition({BlockStore::FromBatches({std::move(batch)})}, 0);
  }
};

TEST_F(RangeBoundariesTest, SplitsEvenlyInSortOrder) {
  std::vector<Partition> partitions = {Of(Numbered(500, 7, 500)), Of(Numbered(500))};
  for (bool ascending : {true, false}) {
    SortNode sort{.keys = {{"id", ascending}}};
    ASSERT_OK_AND_ASSIGN(auto boundaries,
                         ChooseBoundaries(partitions, sort, Numbered(0)->schema(), 4,
                                          arrow::default_memory_pool()));
    ASSERT_EQ(boundaries->num_rows(), 3);
    const auto& ids = static_cast<const arrow::Int64Array&>(*boundaries->column(0));
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(static_cast<double>(ids.Value(ascending ? i : 2 - i)),
                  static_cast<double>((i + 1) * 250), 10);
    }
  }
}

TEST_F(RangeBoundariesTest, NoRowsGiveNoBoundaries) {
  SortNode sort{.keys = {{"id", true}}};
  ASSERT_OK_AND_ASSIGN(
      auto boundaries,
      ChooseBoundaries({Of(Numbered(0)), Of(Numbered(0))}, sort, Numbered(0)->schema(), 2,
                       arrow::default_memory_pool()));
  EXPECT_EQ(boundaries->num_rows(), 0);
}

}  // namespace
}  // namespace xshards
