// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Union : public OperatorTest {
 protected:
  const std::shared_ptr<arrow::RecordBatch> rows_ =
      Batch({{"a", arrow::int64(), "[1, 2, null, 4, 5, 6]"}});
};

TEST_F(Union, GivesTheRowsOfEachInputInTurn) {
  const auto nothing = rows_->Slice(0, 0);
  ExpectBatch(Get(RunToBatch(UnionNode{}, {Cut(rows_->Slice(0, 3), 2),
                                           {nothing},
                                           {rows_->Slice(3, 1), nothing},
                                           Cut(rows_->Slice(4), 1)})),
              rows_);
}

TEST_F(Union, OfNoRowsIsEmpty) {
  const auto nothing = rows_->Slice(0, 0);
  EXPECT_EQ(Get(RunToBatch(UnionNode{}, {{nothing}, {nothing}}))->num_rows(), 0);
}

TEST_F(Union, TakesTheSchemaFromTheFirstBatch) {
  const auto stream = Get(OpenLate(UnionNode{}, {{rows_}, {rows_}}));
  EXPECT_EQ(stream->schema(), nullptr);
  EXPECT_EQ(Get(stream->Next())->num_rows(), 6);
  EXPECT_EQ(stream->schema()->num_fields(), 1);
  EXPECT_EQ(Get(stream->Next())->num_rows(), 6);
  EXPECT_EQ(Get(stream->Next()), nullptr);
}

}  // namespace
}  // namespace xshards::ops
