// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "learn/feed/tensor_block.h"
#include "xshards/export.h"
#include "xshards/storage/partition.h"

namespace xshards::learn {

/// The rows of materialised partitions, as tensors, piece by piece. A piece is one stored
/// block: one in memory is read without a copy, a spilled one from disk each time.
///
/// Used by one thread at a time.
class XSHARDS_EXPORT RowSource {
 public:
  /// Partitions of Tensors, or of rows that `specs` turn into tensors.
  static arrow::Result<RowSource> Make(const std::vector<Partition>& partitions,
                                       std::vector<TensorSpec> specs,
                                       arrow::MemoryPool* pool);

  int64_t num_rows() const;
  /// Rows of each piece, in the order of the partitions.
  std::vector<int64_t> piece_rows() const;
  arrow::Result<TensorBlock> Read(int64_t piece, int64_t begin, int64_t length);

 private:
  struct Piece {
    std::shared_ptr<BlockStore> store;
    size_t block = 0;
    int64_t num_rows = 0;
  };

  RowSource(std::vector<TensorSpec> specs, arrow::MemoryPool* pool)
      : specs_(std::move(specs)), pool_(pool) {}
  arrow::Status AddPartition(const Partition& partition);
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadPiece(int64_t piece);
  /// Check that rows have the same types and shapes as those of the first piece.
  arrow::Status CheckLayout(const TensorBlock& block);

  std::vector<TensorSpec> specs_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::Schema> schema_;  // of Table pieces, widened to hold them all
  std::vector<Piece> pieces_;
  std::vector<RowLayout> layout_;
  // The last piece read: a window often ends inside one.
  int64_t last_piece_ = -1;
  std::shared_ptr<arrow::RecordBatch> last_batch_;
};

}  // namespace xshards::learn
