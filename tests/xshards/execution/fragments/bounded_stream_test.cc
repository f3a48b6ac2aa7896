// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/bounded_stream.h"

#include <algorithm>

#include <arrow/table.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/storage/payload.h"

namespace xshards {
namespace {

using testing::Numbered;

arrow::RecordBatchVector Bounded(const arrow::RecordBatchVector& batches,
                                 int64_t batch_bytes) {
  auto stream = BoundBatches(
      std::make_unique<VectorStream>(batches.front()->schema(), batches), batch_bytes);
  EXPECT_TRUE(stream->schema()->Equals(*batches.front()->schema()));
  return ReadAll(*stream).ValueOrDie();
}

TEST(BoundedStream, SlicesLargeBatchesWithoutLosingRows) {
  const arrow::RecordBatchVector batches = {
      Numbered(10000), Numbered(0), Numbered(1, 7, 10000), Numbered(777, 7, 10001)};
  for (int64_t batch_bytes : {1, 1000, 5000, 1 << 30}) {
    auto pieces = Bounded(batches, batch_bytes);
    for (const auto& piece : pieces) {
      // A row is about 20 bytes, and a batch is cut when it is twice as large.
      EXPECT_LE(piece->num_rows(), std::max<int64_t>(batch_bytes / 5, 1));
    }
    auto all = arrow::Table::FromRecordBatches(pieces).ValueOrDie();
    auto expected = arrow::Table::FromRecordBatches(batches).ValueOrDie();
    EXPECT_TRUE(all->Equals(*expected)) << batch_bytes;
  }
}

TEST(BoundedStream, ForwardsSmallAndEmptyBatches) {
  const arrow::RecordBatchVector batches = {Numbered(0), Numbered(10), Numbered(0)};
  auto pieces = Bounded(batches, 1 << 20);
  ASSERT_EQ(pieces.size(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(pieces[i], batches[i]);
}

TEST(BoundedStream, DoesNotSliceOtherPayloads) {
  auto data = arrow::Buffer::FromString(std::string(100000, 'x'));
  ASSERT_OK_AND_ASSIGN(auto payload, Payload::Object(data, {data}));
  EXPECT_EQ(Bounded(payload.batches(), 1000).size(), 1);
}

}  // namespace
}  // namespace xshards
