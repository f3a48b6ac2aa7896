// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/result.h>

namespace xshards::ops {

/// The keys of a batch's rows as bytes: two rows have equal keys exactly if they have
/// equal bytes. Rows are contiguous and each encodes its own end.
class EncodedKeys {
 public:
  EncodedKeys(int64_t num_rows, std::shared_ptr<arrow::Buffer> offsets,
              std::shared_ptr<arrow::Buffer> bytes)
      : num_rows_(num_rows), offsets_(std::move(offsets)), bytes_(std::move(bytes)) {}

  int64_t num_rows() const { return num_rows_; }
  int64_t offset(int64_t row) const { return offsets_->data_as<int64_t>()[row]; }
  std::string_view operator[](int64_t row) const {
    return {bytes_->data_as<char>() + offset(row),
            static_cast<size_t>(offset(row + 1) - offset(row))};
  }

  const std::shared_ptr<arrow::Buffer>& offsets_buffer() const { return offsets_; }
  const std::shared_ptr<arrow::Buffer>& bytes_buffer() const { return bytes_; }

 private:
  int64_t num_rows_;
  std::shared_ptr<arrow::Buffer> offsets_;  // num_rows + 1 of int64
  std::shared_ptr<arrow::Buffer> bytes_;
};

/// Encode the rows of key columns (see KeyColumn); no columns give empty keys.
arrow::Result<EncodedKeys> EncodeKeys(const arrow::ArrayVector& key_columns,
                                      int64_t num_rows, arrow::MemoryPool* pool);

}  // namespace xshards::ops
