// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::io {

/// Passes reads on to a file and counts their bytes. Used by one thread, like its file.
class CountingFile final : public arrow::io::RandomAccessFile {
 public:
  /// `count` outlives this.
  CountingFile(std::shared_ptr<arrow::io::RandomAccessFile> file, int64_t* count)
      : file_(std::move(file)), count_(count) {}

  arrow::Status Close() override { return file_->Close(); }
  bool closed() const override { return file_->closed(); }
  arrow::Result<int64_t> Tell() const override { return file_->Tell(); }
  arrow::Status Seek(int64_t position) override { return file_->Seek(position); }
  arrow::Result<int64_t> GetSize() override { return file_->GetSize(); }

  arrow::Result<int64_t> Read(int64_t num_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t num_bytes) override;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t num_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position,
                                                       int64_t num_bytes) override;

 private:
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  int64_t* count_;
};

}  // namespace xshards::io
