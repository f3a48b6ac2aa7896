// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Limit : public OperatorTest {};

/// Counts calls of Next(), and records when it is destroyed.
class WatchedStream final : public BatchStream {
 public:
  WatchedStream(std::shared_ptr<arrow::RecordBatch> batch, int* reads, bool* dropped)
      : batch_(std::move(batch)), reads_(reads), dropped_(dropped) {}
  ~WatchedStream() override { *dropped_ = true; }
  const std::shared_ptr<arrow::Schema>& schema() const override {
    return batch_->schema();
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ++*reads_;
    return batch_;
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  int* reads_;
  bool* dropped_;
};

TEST_F(Limit, KeepsTheFirstRowsAcrossBatches) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2, 3, 4, 5]"}});
  for (int64_t count : {0, 1, 2, 4, 5, 6, 100}) {
    const auto out = Get(RunToBatch(LimitNode{count}, {Cut(batch, 2)}));
    ExpectBatch(out, batch->Slice(0, count));
  }
}

TEST_F(Limit, DropsItsInputOnceItHasEnough) {
  int reads = 0;
  bool dropped = false;
  BatchStreams inputs;
  inputs.push_back(std::make_unique<WatchedStream>(
      Batch({{"a", arrow::int64(), "[1, 2]"}}), &reads, &dropped));
  const auto stream = Get(OpenStreams(LimitNode{3}, std::move(inputs)));
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(Get(stream->Next())->num_rows(), 2);
  EXPECT_FALSE(dropped);
  EXPECT_EQ(Get(stream->Next())->num_rows(), 1);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(Get(stream->Next()), nullptr);
  EXPECT_EQ(reads, 2);
}

TEST_F(Limit, OfZeroStillReadsALateSchema) {
  const auto batch = Batch({{"a", arrow::int64(), "[1]"}});
  const auto stream = Get(OpenLate(LimitNode{0}, {{batch}}));
  EXPECT_EQ(Get(ReadAll(*stream)).at(0)->num_rows(), 0);
  EXPECT_TRUE(stream->schema()->Equals(*batch->schema()));
}

TEST_F(Limit, RejectsANegativeCount) {
  EXPECT_FAILS(Invalid, "-1",
               Open(LimitNode{-1}, {{Batch({{"a", arrow::int64(), "[1]"}})}}));
}

}  // namespace
}  // namespace xshards::ops
