// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

namespace xshards::io {

/// The validity bitmap of an array; costs nothing until a value is missing.
class Validity {
 public:
  void Start(int64_t capacity) {
    capacity_ = capacity;
    num_missing_ = 0;
    bits_.reset();
  }
  arrow::Status SetMissing(int64_t at, arrow::MemoryPool* pool);
  int64_t num_missing() const { return num_missing_; }
  std::shared_ptr<arrow::Buffer> Finish() { return std::move(bits_); }

 private:
  int64_t capacity_ = 0;
  int64_t num_missing_ = 0;
  std::shared_ptr<arrow::Buffer> bits_;
};

/// The array of the first `size` values, of a type of whole bytes, in `data`.
arrow::Result<std::shared_ptr<arrow::Array>> FinishArray(
    const std::shared_ptr<arrow::DataType>& type, int64_t size, Validity* validity,
    std::shared_ptr<arrow::ResizableBuffer> data);

}  // namespace xshards::io
