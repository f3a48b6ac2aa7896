// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/bounded_stream.h"

#include <algorithm>
#include <utility>

#include "xshards/storage/payload.h"
#include "xshards/types/row_bytes.h"

namespace xshards {

namespace {

class BoundedStream final : public BatchStream {
 public:
  BoundedStream(std::unique_ptr<BatchStream> input, int64_t batch_bytes)
      : input_(std::move(input)), batch_bytes_(batch_bytes) {}

  const std::shared_ptr<arrow::Schema>& schema() const override {
    return input_->schema();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (whole_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(whole_, input_->Next());
      if (whole_ == nullptr) return nullptr;
      step_ = RowsAtOnce(*whole_);
      position_ = 0;
    }
    if (position_ == 0 && step_ >= whole_->num_rows()) return std::move(whole_);
    auto piece = whole_->Slice(position_, step_);
    position_ += step_;
    if (position_ >= whole_->num_rows()) whole_ = nullptr;
    return piece;
  }

 private:
  int64_t RowsAtOnce(const arrow::RecordBatch& batch) const {
    const int64_t rows = batch.num_rows();
    // A Tensors or Object payload is one row, whatever its size.
    if (rows <= 1 || KindOf(*batch.schema()) != PayloadKind::kTable) return rows;
    // Up to twice the size is not sliced: most batches already have about the right size.
    const int64_t pieces = std::clamp<int64_t>(RowBytes(batch) / batch_bytes_, 1, rows);
    return (rows + pieces - 1) / pieces;
  }

  std::unique_ptr<BatchStream> input_;
  const int64_t batch_bytes_;
  std::shared_ptr<arrow::RecordBatch> whole_;
  int64_t step_ = 0;
  int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<BatchStream> BoundBatches(std::unique_ptr<BatchStream> input,
                                          int64_t batch_bytes) {
  return std::make_unique<BoundedStream>(std::move(input), batch_bytes);
}

}  // namespace xshards
