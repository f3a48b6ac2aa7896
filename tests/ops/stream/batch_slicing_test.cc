// SPDX-License-Identifier: Apache-2.0
#include "ops/stream/batch_slicing.h"

#include "tests/ops/operator_fixture.h"
#include "xshards/types/row_bytes.h"

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
  EXPECT_EQ(RowBytes(*Numbers(1000)), 8000);
  EXPECT_EQ(RowBytes(*Numbers(1000)->Slice(10, 5)), 40);
  EXPECT_EQ(RowsWithin(*Numbers(1000), 80), 10);
  EXPECT_EQ(RowsWithin(*Numbers(1000), 1), 1);
  EXPECT_EQ(RowsWithin(*Numbers(0), 1 << 20), 1);
}

TEST_F(Batches, AreSlicedIntoPiecesThatCoverAllRows) {
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

TEST_F(Batches, AreSlicedByRows) {
  auto slicer = BatchSlicer::OfRows(Numbers(25), 10);
  for (const int64_t rows : {10, 10, 5}) EXPECT_EQ(slicer.Next()->num_rows(), rows);
  EXPECT_EQ(slicer.Next(), nullptr);
}

TEST_F(Batches, OfNoRowsAreOnePiece) {
  BatchSlicer slicer(Numbers(0), 80);
  EXPECT_NE(slicer.Next(), nullptr);
  EXPECT_EQ(slicer.Next(), nullptr);
  EXPECT_EQ(BatchSlicer().Next(), nullptr);
}

/// The row counts of a coalescer's output for batches of the given row counts.
class Coalesced : public Batches {
 protected:
  // Numbers of 8 bytes: 50 rows are enough, and 25 are large.
  std::vector<int64_t> Lengths(const std::vector<int64_t>& lengths) {
    BatchCoalescer coalescer(400, context_.pool);
    size_t at = 0;
    const auto next = [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
      if (at == lengths.size()) return nullptr;
      return Numbers(lengths[at++]);
    };
    std::vector<int64_t> given;
    while (auto batch = Get(coalescer.Next(next))) given.push_back(batch->num_rows());
    EXPECT_EQ(Get(coalescer.Next(next)), nullptr);
    return given;
  }
};

TEST_F(Coalesced, SmallBatchesAreJoinedUntilTheyAreEnough) {
  EXPECT_EQ(Lengths({20, 20, 20, 20, 1}), (std::vector<int64_t>{60, 21}));
  EXPECT_EQ(Lengths({1}), (std::vector<int64_t>{1}));
}

TEST_F(Coalesced, LargeBatchesAreForwarded) {
  EXPECT_EQ(Lengths({100, 25, 60}), (std::vector<int64_t>{100, 25, 60}));
  EXPECT_EQ(Lengths({5, 6, 100, 7}), (std::vector<int64_t>{11, 100, 7}));
}

TEST_F(Coalesced, EmptyBatchesAreDropped) {
  EXPECT_EQ(Lengths({0, 3, 0, 30, 0}), (std::vector<int64_t>{3, 30}));
  EXPECT_EQ(Lengths({0, 0}), (std::vector<int64_t>{}));
  EXPECT_EQ(Lengths({}), (std::vector<int64_t>{}));
}

}  // namespace
}  // namespace xshards::ops
