// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::io {

/// A stream that transforms another while it is read.
class TextStream : public arrow::io::InputStream {
 public:
  arrow::Result<int64_t> Read(int64_t num_bytes, void* out) final;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t num_bytes) final;
  arrow::Status Close() final { return input_->Close(); }
  bool closed() const final { return input_->closed(); }
  arrow::Result<int64_t> Tell() const final { return position_; }

 protected:
  explicit TextStream(std::shared_ptr<arrow::io::InputStream> input);

  /// Fill all of `out`, as files do: readers take fewer bytes for the end.
  virtual arrow::Result<int64_t> Fill(int64_t num_bytes, char* out) = 0;
  arrow::io::InputStream& input() { return *input_; }

 private:
  const std::shared_ptr<arrow::io::InputStream> input_;
  int64_t position_ = 0;
};

}  // namespace xshards::io
