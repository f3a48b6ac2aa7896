// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/adjacent_batches.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Numbered;

TEST(AdjacentBatches, AdjacentSlicesAreJoined) {
  const auto whole = Numbered(10);
  const auto joined =
      JoinAdjacent({whole->Slice(2, 3), whole->Slice(5, 0), whole->Slice(5, 4)});
  ASSERT_NE(joined, nullptr);
  EXPECT_TRUE(joined->Equals(*whole->Slice(2, 7)));
  EXPECT_EQ(joined->column_data(0)->buffers[1]->data(),
            whole->column_data(0)->buffers[1]->data());
  for (int i = 0; i < joined->num_columns(); ++i) {
    EXPECT_EQ(joined->column(i)->null_count(),
              whole->Slice(2, 7)->column(i)->null_count());
  }
}

TEST(AdjacentBatches, OtherRowsAreNotJoined) {
  const auto whole = Numbered(10);
  EXPECT_EQ(JoinAdjacent({}), nullptr);
  EXPECT_EQ(JoinAdjacent({whole->Slice(0, 3), whole->Slice(4, 2)}), nullptr);
  EXPECT_EQ(JoinAdjacent({whole->Slice(3, 3), whole->Slice(0, 3)}), nullptr);
  EXPECT_EQ(JoinAdjacent({whole->Slice(0, 3), Numbered(10)->Slice(3, 3)}), nullptr);
}

TEST(AdjacentBatches, RowsThatAreNoLongerNullAreNotJoined) {
  const auto whole = Numbered(40);
  const auto rest = whole->Slice(20, 20);
  ASSERT_GT(rest->column(2)->null_count(), 0);
  auto values = rest->column_data(2)->Copy();
  values->buffers[0] = nullptr;
  values->null_count = 0;
  ASSERT_OK_AND_ASSIGN(auto filled, rest->SetColumn(2, rest->schema()->field(2),
                                                    arrow::MakeArray(values)));
  EXPECT_NE(JoinAdjacent({whole->Slice(0, 20), rest}), nullptr);
  EXPECT_EQ(JoinAdjacent({whole->Slice(0, 20), filled}), nullptr);
}

TEST(AdjacentBatches, ColumnsOfOtherNamesAreNotJoined) {
  const auto whole = Numbered(4);
  ASSERT_OK_AND_ASSIGN(auto renamed, whole->RenameColumns({"other", "names", "here"}));
  EXPECT_EQ(JoinAdjacent({whole->Slice(0, 2), renamed->Slice(2, 2)}), nullptr);
}

}  // namespace
}  // namespace xshards
