// SPDX-License-Identifier: Apache-2.0
#include "io/csv/convert/validity_builder.h"

#include <cstring>
#include <utility>

#include <arrow/util/bit_util.h>

#include "io/text/buffer_sizing.h"

namespace xshards::io {

arrow::Status Validity::SetMissing(int64_t at, arrow::MemoryPool* pool) {
  if (bits_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        bits_, arrow::AllocateBuffer(arrow::bit_util::BytesForBits(capacity_), pool));
    std::memset(bits_->mutable_data(), 0xFF, static_cast<size_t>(bits_->size()));
  }
  arrow::bit_util::ClearBit(bits_->mutable_data(), at);
  ++num_missing_;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> FinishArray(
    const std::shared_ptr<arrow::DataType>& type, int64_t size, Validity* validity,
    std::shared_ptr<arrow::ResizableBuffer> data) {
  const int64_t num_bytes = size * type->byte_width();
  GiveBackTail(data.get(), num_bytes);
  ARROW_RETURN_NOT_OK(data->Resize(num_bytes));
  const int64_t num_missing = validity->num_missing();
  return arrow::MakeArray(arrow::ArrayData::Make(
      type, size, {validity->Finish(), std::move(data)}, num_missing));
}

}  // namespace xshards::io
