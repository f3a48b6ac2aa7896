// SPDX-License-Identifier: Apache-2.0
#include "io/fs/counting_file.h"

#include <arrow/buffer.h>

namespace xshards::io {

arrow::Result<int64_t> CountingFile::Read(int64_t num_bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t got, file_->Read(num_bytes, out));
  *count_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> CountingFile::Read(int64_t num_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, file_->Read(num_bytes));
  *count_ += buffer->size();
  return buffer;
}

arrow::Result<int64_t> CountingFile::ReadAt(int64_t position, int64_t num_bytes,
                                            void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t got, file_->ReadAt(position, num_bytes, out));
  *count_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> CountingFile::ReadAt(int64_t position,
                                                                   int64_t num_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, file_->ReadAt(position, num_bytes));
  *count_ += buffer->size();
  return buffer;
}

}  // namespace xshards::io
