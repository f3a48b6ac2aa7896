// SPDX-License-Identifier: Apache-2.0
#include "ops/join/probe_side.h"

#include <utility>

#include "ops/stream/batch_slicing.h"

namespace xshards::ops {

namespace {

// The matches of this many rows, a number each, fit the second-level cache.
constexpr int64_t kRowsAtOnce = int64_t{1} << 17;

}  // namespace

arrow::Status ProbeRows::LearnSchema() {
  if (input_.schema() != nullptr) return arrow::Status::OK();
  return input_.Next().Value(&first_batch_);
}

void ProbeRows::KeepRows() {
  keeps_rows_ = true;
  writer_.emplace(context_.storage, Storage::kHeap);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ProbeRows::ReadPiece() {
  if (first_batch_ != nullptr) return std::exchange(first_batch_, nullptr);
  return stream_ != nullptr ? stream_->Next() : input_.Next();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ProbeRows::NextSlice() {
  if (auto slice = slices_.Next(); slice != nullptr) return slice;
  ARROW_ASSIGN_OR_RAISE(auto batch, pieces_.Next([this] { return ReadPiece(); }));
  if (batch == nullptr) return nullptr;
  slices_ = BatchSlicer::OfRows(std::move(batch), kRowsAtOnce);
  return slices_.Next();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ProbeRows::Next() {
  ARROW_ASSIGN_OR_RAISE(auto batch, NextSlice());
  if (batch == nullptr) return nullptr;
  first_row_ = next_row_;
  next_row_ += static_cast<size_t>(batch->num_rows());
  if (writer_) {
    marks_.resize(next_row_);
    ARROW_RETURN_NOT_OK(writer_->Append(0, batch));
  }
  return batch;
}

arrow::Status ProbeRows::StartAgain() {
  if (writer_) {
    ARROW_ASSIGN_OR_RAISE(auto store, writer_->Finish());
    kept_ = Partition({std::move(store)}, 0);
    writer_.reset();
  }
  next_row_ = 0;
  return kept_.Open(input_.schema(), context_.pool).Value(&stream_);
}

}  // namespace xshards::ops
