// SPDX-License-Identifier: Apache-2.0
#include "ops/stream/batch_slicing.h"

#include "xshards/types/row_bytes.h"

namespace xshards::ops {

int64_t RowsWithin(const arrow::RecordBatch& batch, int64_t bytes) {
  if (batch.num_rows() == 0) return 1;
  const double row_bytes =
      static_cast<double>(RowBytes(batch)) / static_cast<double>(batch.num_rows());
  const double rows = static_cast<double>(bytes) / std::max(row_bytes, 1.0);
  return std::max<int64_t>(1, static_cast<int64_t>(rows));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    const std::shared_ptr<arrow::Schema>& schema, arrow::RecordBatchVector batches,
    arrow::MemoryPool* pool) {
  if (batches.empty()) return arrow::RecordBatch::MakeEmpty(schema, pool);
  if (batches.size() == 1) return batches[0];
  return arrow::ConcatenateRecordBatches(batches, pool);
}

arrow::Status MakeRoom(const OperatorContext& context, int64_t wanted) {
  if (context.storage.budget == nullptr) return arrow::Status::OK();
  return context.storage.budget->MakeRoom(wanted);
}

BatchSlicer BatchSlicer::OfRows(std::shared_ptr<arrow::RecordBatch> batch,
                                int64_t num_rows) {
  BatchSlicer slicer;
  slicer.batch_ = std::move(batch);
  slicer.step_ = num_rows;
  return slicer;
}

std::shared_ptr<arrow::RecordBatch> BatchSlicer::Next() {
  if (batch_ == nullptr) return nullptr;
  if (position_ == 0 && batch_->num_rows() <= step_) return std::move(batch_);
  auto piece = batch_->Slice(position_, step_);
  position_ += piece->num_rows();
  if (position_ == batch_->num_rows()) batch_ = nullptr;
  return piece;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> BatchCoalescer::Next(
    const NextBatch& next) {
  if (large_ != nullptr) return std::exchange(large_, nullptr);
  while (small_bytes_ < target_bytes_) {
    ARROW_ASSIGN_OR_RAISE(auto batch, next());
    if (batch == nullptr) break;
    if (batch->num_rows() == 0) continue;
    const int64_t bytes = RowBytes(*batch);
    if (bytes >= target_bytes_ / 2) {
      if (small_.empty()) return batch;
      large_ = std::move(batch);
      break;
    }
    small_bytes_ += bytes;
    small_.push_back(std::move(batch));
  }
  if (small_.empty()) return nullptr;
  small_bytes_ = 0;
  auto schema = small_[0]->schema();
  return Concatenate(schema, std::exchange(small_, {}), pool_);
}

}  // namespace xshards::ops
