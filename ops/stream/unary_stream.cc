// SPDX-License-Identifier: Apache-2.0
#include "ops/stream/unary_stream.h"

#include "ops/stream/batch_slicing.h"
#include "xshards/types/row_bytes.h"

namespace xshards::ops {

const std::shared_ptr<arrow::Schema>& Input::schema() const {
  if (schema_ != nullptr || stream_ == nullptr) return schema_;
  return stream_->schema();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Input::Next() {
  if (stream_ == nullptr) return nullptr;
  ARROW_RETURN_NOT_OK(context_.stop.Poll());
  ARROW_ASSIGN_OR_RAISE(auto batch, stream_->Next());
  if (batch == nullptr) {
    schema_ = schema();
    stream_.reset();
    return nullptr;
  }
  if (schema_ == nullptr) {
    schema_ = schema() != nullptr ? schema() : batch->schema();
  }
  if (batch->schema() != schema_ &&
      !batch->schema()->Equals(*schema_, /*check_metadata=*/false)) {
    return arrow::Status::TypeError("partition ", context_.partition_index,
                                    ": expected every batch to have the schema\n",
                                    schema_->ToString(), "\nbut one has\n",
                                    batch->schema()->ToString());
  }
  return batch;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Input::Collect() {
  arrow::RecordBatchVector batches;
  while (true) {
    ARROW_RETURN_NOT_OK(MakeRoom(context_));
    ARROW_ASSIGN_OR_RAISE(auto batch, Next());
    if (batch == nullptr) break;
    if (batch->num_rows() > 0) batches.push_back(std::move(batch));
  }
  if (schema() == nullptr) return nullptr;
  if (batches.size() > 1) {
    int64_t bytes = 0;
    for (const auto& batch : batches) bytes += RowBytes(*batch);
    ARROW_RETURN_NOT_OK(MakeRoom(context_, bytes));
  }
  return Concatenate(schema(), std::move(batches), context_.pool);
}

UnaryStream::UnaryStream(std::unique_ptr<BatchStream> input, OperatorContext& context)
    : context_(context), exec_(context.pool), input_(std::move(input), context) {
  exec_.set_use_threads(false);
}

arrow::Status UnaryStream::PrepareIfKnown() {
  if (prepared_ || input_.schema() == nullptr) return arrow::Status::OK();
  prepared_ = true;
  ARROW_ASSIGN_OR_RAISE(schema_, Prepare(input_.schema()));
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> UnaryStream::NextInput() {
  ARROW_ASSIGN_OR_RAISE(auto batch, input_.Next());
  ARROW_RETURN_NOT_OK(PrepareIfKnown());
  return batch;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> UnaryStream::CollectInput() {
  ARROW_ASSIGN_OR_RAISE(auto batch, input_.Collect());
  ARROW_RETURN_NOT_OK(PrepareIfKnown());
  return batch;
}

}  // namespace xshards::ops
