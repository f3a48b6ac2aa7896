// SPDX-License-Identifier: Apache-2.0
#include "ops/stream/unary_stream.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class InputTest : public OperatorTest {
 protected:
  Input Over(arrow::RecordBatchVector batches) {
    auto schema = batches.at(0)->schema();
    return {std::make_unique<VectorStream>(schema, std::move(batches)), context_};
  }
  const std::shared_ptr<arrow::RecordBatch> batch_ =
      Batch({{"a", arrow::int64(), "[1, 2, 3]"}});
};

TEST_F(InputTest, RejectsABatchOfAnotherSchema) {
  auto input = Over({batch_, Batch({{"a", arrow::float64(), "[1]"}})});
  ASSERT_OK(input.Next());
  EXPECT_FAILS(TypeError, "double", input.Next());
}

TEST_F(InputTest, CollectsAllBatchesInOrder) {
  ExpectBatch(Get(Over(Cut(batch_, 1)).Collect()), batch_);
  EXPECT_EQ(Get(Over({batch_}).Collect()), batch_) << "one batch is not copied";
}

TEST_F(InputTest, CollectsAnEmptyBatchWithTheSchema) {
  const auto nothing = Get(Over({batch_->Slice(0, 0)}).Collect());
  EXPECT_EQ(nothing->num_rows(), 0);
  EXPECT_TRUE(nothing->schema()->Equals(*batch_->schema()));
}

TEST_F(InputTest, GivesNothingOnceClosed) {
  auto input = Over({batch_, batch_});
  ASSERT_OK(input.Next());
  input.Close();
  EXPECT_EQ(Get(input.Next()), nullptr);
  EXPECT_NE(input.schema(), nullptr);
}

TEST_F(InputTest, StopsWhenAsked) {
  arrow::StopSource source;
  context_.stop = source.token();
  auto input = Over({batch_});
  source.RequestStop();
  EXPECT_TRUE(input.Next().status().IsCancelled());
}

}  // namespace
}  // namespace xshards::ops
