// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/batch_stream.h"

namespace xshards {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> VectorStream::Next() {
  if (position_ == batches_.size()) return nullptr;
  return std::move(batches_[position_++]);
}

arrow::Result<arrow::RecordBatchVector> ReadAll(BatchStream& stream) {
  arrow::RecordBatchVector batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, stream.Next());
    if (batch == nullptr) return batches;
    batches.push_back(std::move(batch));
  }
}

}  // namespace xshards
