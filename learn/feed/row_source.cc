// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/row_source.h"

#include <utility>

#include <arrow/type.h>

#include "xshards/types/conform.h"

namespace xshards::learn {

arrow::Result<RowSource> RowSource::Make(const std::vector<Partition>& partitions,
                                         std::vector<TensorSpec> specs,
                                         arrow::MemoryPool* pool) {
  RowSource source(std::move(specs), pool);
  ARROW_ASSIGN_OR_RAISE(source.schema_, UnifySchemas(partitions));
  for (const Partition& partition : partitions) {
    ARROW_RETURN_NOT_OK(source.AddPartition(partition));
  }
  return source;
}

arrow::Status RowSource::AddPartition(const Partition& partition) {
  for (const auto& [store, index] : partition.blocks()) {
    const auto block = store->block(index);
    Piece piece{store, index, block.num_rows};
    switch (KindOf(*block.schema)) {
      case PayloadKind::kTable:
        if (specs_.empty()) {
          return arrow::Status::Invalid(
              "the shards hold DataFrames: name the columns to feed (feature_cols)");
        }
        break;
      case PayloadKind::kTensors: {
        ARROW_ASSIGN_OR_RAISE(auto shapes, TensorShapes(*block.schema));
        piece.num_rows = shapes.empty() || shapes[0].empty() ? 0 : shapes[0][0];
        break;
      }
      case PayloadKind::kObject:
        return arrow::Status::TypeError(
            "the shards hold Python objects; expected DataFrames or "
            "arrays in dicts, lists and tuples");
    }
    if (piece.num_rows > 0) pieces_.push_back(std::move(piece));
  }
  return arrow::Status::OK();
}

int64_t RowSource::num_rows() const {
  int64_t rows = 0;
  for (const Piece& piece : pieces_) rows += piece.num_rows;
  return rows;
}

std::vector<int64_t> RowSource::piece_rows() const {
  std::vector<int64_t> rows;
  rows.reserve(pieces_.size());
  for (const Piece& piece : pieces_) rows.push_back(piece.num_rows);
  return rows;
}

arrow::Result<TensorBlock> RowSource::Read(int64_t piece, int64_t begin, int64_t length) {
  ARROW_ASSIGN_OR_RAISE(auto batch, ReadPiece(piece));
  TensorBlock block;
  if (KindOf(*batch->schema()) == PayloadKind::kTensors) {
    ARROW_ASSIGN_OR_RAISE(auto whole, ToTensors(Payload::FromBatch(batch)));
    block = whole.Slice(begin, length);
  } else {
    ARROW_ASSIGN_OR_RAISE(block, ToTensors(specs_, *batch->Slice(begin, length), pool_));
  }
  ARROW_RETURN_NOT_OK(CheckLayout(block));
  return block;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowSource::ReadPiece(int64_t piece) {
  if (piece == last_piece_) return last_batch_;
  last_batch_ = nullptr;  // before another is read: only one stays in memory
  const Piece& found = pieces_[static_cast<size_t>(piece)];
  ARROW_ASSIGN_OR_RAISE(auto batch, found.store->ReadBlock(found.block));
  if (KindOf(*batch->schema()) == PayloadKind::kTable) {
    ARROW_ASSIGN_OR_RAISE(batch, Conform(batch, schema_, pool_));
  }
  last_piece_ = piece;
  last_batch_ = batch;
  return batch;
}

arrow::Status RowSource::CheckLayout(const TensorBlock& block) {
  if (layout_.empty()) {
    for (const Tensor& tensor : block.tensors) layout_.push_back(tensor.row);
    return arrow::Status::OK();
  }
  if (block.tensors.size() != layout_.size()) {
    return arrow::Status::Invalid(
        "all shards must hold the same number of arrays, but one has ", layout_.size(),
        " and another ", block.tensors.size());
  }
  for (size_t i = 0; i < layout_.size(); ++i) {
    if (block.tensors[i].row == layout_[i]) continue;
    return arrow::Status::Invalid(
        "rows must have the same type and shape in all shards, but those of array ", i,
        " are ", ToString(layout_[i]), " in one and ", ToString(block.tensors[i].row),
        " in another");
  }
  return arrow::Status::OK();
}

}  // namespace xshards::learn
