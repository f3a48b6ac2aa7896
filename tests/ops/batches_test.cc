// SPDX-License-Identifier: Apache-2.0
#include "ops/batches.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Batches : public OperatorTest {
 protected:
  static std::shared_ptr<arrow::RecordBatch> Numbers(int64_t count) {
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = i;
    return Batch({{"a", Column(values)}});
  }
};

TEST_F(Batches, CountOnlyTheBytesOfASlice) {
  EXPECT_EQ(NumBytes(*Numbers(1000)), 8000);
  EXPECT_EQ(NumBytes(*Numbers(1000)->Slice(10, 5)), 40);
  EXPECT_EQ(RowsWithin(*Numbers(1000), 80), 10);
  EXPECT_EQ(RowsWithin(*Numbers(1000), 1), 1);
  EXPECT_EQ(RowsWithin(*Numbers(0), 1 << 20), 1);
}

TEST_F(Batches, AreSlicedIntoPiecesThatMakeTheWhole) {
  for (int64_t rows : {1, 9, 10, 11, 100}) {
    const auto batch = Numbers(rows);
    BatchSlicer slicer(batch, 80);
    arrow::RecordBatchVector pieces;
    while (auto piece = slicer.Next()) {
      EXPECT_LE(piece->num_rows(), 10);
      pieces.push_back(piece);
    }
    EXPECT_EQ(pieces.size(), static_cast<size_t>((rows + 9) / 10));
    ExpectBatch(Get(Concatenate(batch->schema(), pieces, context_.pool)), batch);
  }
}

TEST_F(Batches, OfNoRowsAreOnePiece) {
  BatchSlicer slicer(Numbers(0), 80);
  EXPECT_NE(slicer.Next(), nullptr);
  EXPECT_EQ(slicer.Next(), nullptr);
  EXPECT_EQ(BatchSlicer().Next(), nullptr);
}

TEST_F(Batches, AreCoalescedUntilTheyAreLargeEnough) {
  BatchCoalescer coalescer(100, context_.pool);
  EXPECT_TRUE(coalescer.empty());
  coalescer.Push(Numbers(10));
  EXPECT_FALSE(coalescer.full());
  coalescer.Push(Numbers(3));
  EXPECT_TRUE(coalescer.full());
  EXPECT_EQ(Get(coalescer.Take())->num_rows(), 13);
  EXPECT_TRUE(coalescer.empty());
  EXPECT_FALSE(coalescer.full());
}

}  // namespace
}  // namespace xshards::ops
