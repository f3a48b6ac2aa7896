// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Zip : public OperatorTest {
 protected:
  const std::shared_ptr<arrow::RecordBatch> left_ =
      Batch({{"a", arrow::int64(), "[1, 2, 3, 4, 5, 6, 7]"}});
  const std::shared_ptr<arrow::RecordBatch> right_ =
      Batch({{"b", arrow::large_utf8(), R"(["p", "q", null, "s", "t", "u", "v"])"}});
};

TEST_F(Zip, AlignsBatchesOfDifferentLengths) {
  const auto expected = Batch({{"a", left_->column(0)}, {"b", right_->column(0)}});
  for (int64_t left : {1, 2, 3, 7}) {
    for (int64_t right : {1, 2, 3, 7}) {
      ExpectBatch(Get(RunToBatch(ZipNode{}, {Cut(left_, left), Cut(right_, right)})),
                  expected);
    }
  }
}

TEST_F(Zip, SkipsEmptyBatches) {
  const auto nothing = left_->Slice(0, 0);
  const auto out = Get(RunToBatch(ZipNode{}, {{nothing, left_, nothing}, {right_}}));
  EXPECT_EQ(out->num_rows(), 7);
  EXPECT_EQ(Get(RunToBatch(ZipNode{}, {{nothing}, {right_->Slice(0, 0)}}))->num_rows(),
            0);
}

TEST_F(Zip, NamesThePartitionAndItsRowCounts) {
  context_.partition_index = 3;
  EXPECT_FAILS(Invalid, "partition 3 has 7 on the left and 5 on the right",
               Run(ZipNode{}, {Cut(left_, 2), Cut(right_->Slice(0, 5), 3)}));
  EXPECT_FAILS(Invalid, "partition 3 has 0 on the left and 7 on the right",
               Run(ZipNode{}, {{left_->Slice(0, 0)}, Cut(right_, 3)}));
}

TEST_F(Zip, NamesAColumnThatBothSidesHave) {
  EXPECT_FAILS(Invalid, "'a'", Open(ZipNode{}, {{left_}, {left_}}));
}

TEST_F(Zip, TakesTheSchemaFromTheFirstBatch) {
  const auto stream = Get(OpenLate(ZipNode{}, {{left_}, {right_}}));
  EXPECT_EQ(stream->schema(), nullptr);
  EXPECT_EQ(Get(stream->Next())->num_columns(), 2);
  EXPECT_EQ(stream->schema()->num_fields(), 2);
}

}  // namespace
}  // namespace xshards::ops
