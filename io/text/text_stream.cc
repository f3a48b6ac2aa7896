// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_stream.h"

#include <utility>

#include <arrow/buffer.h>

namespace xshards::io {

TextStream::TextStream(std::shared_ptr<arrow::io::InputStream> input)
    : input_(std::move(input)) {}

arrow::Result<int64_t> TextStream::Read(int64_t num_bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t got, Fill(num_bytes, static_cast<char*>(out)));
  position_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> TextStream::Read(int64_t num_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(num_bytes));
  ARROW_ASSIGN_OR_RAISE(const int64_t got, Read(num_bytes, buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(got));
  return buffer;
}

}  // namespace xshards::io
