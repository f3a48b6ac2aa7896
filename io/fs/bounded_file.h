// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "xshards/plan/plan.h"

namespace xshards::io {

/// Reads a file into buffers of a memory pool. Sizes in files may be wrong: no more is
/// allocated than the file has left. A file that was cut since it was opened is an
/// IOError; it is never mapped, where that would be a signal.
///
/// ReadAt() is thread-safe without a count, all else is for one thread.
class BoundedFile final : public arrow::io::RandomAccessFile {
 public:
  using RandomAccessFile::ReadAsync;
  using RandomAccessFile::ReadAt;

  /// Open a file. Bytes read are added to `count` unless it is nullptr; it and `pool`
  /// outlive the file. The error names the file.
  static arrow::Result<std::shared_ptr<BoundedFile>> Open(const std::string& path,
                                                          arrow::MemoryPool* pool,
                                                          int64_t* count = nullptr);
  /// Open the file of a split. IOError if it has changed since it was planned.
  static arrow::Result<std::shared_ptr<BoundedFile>> Open(const Split& split,
                                                          arrow::MemoryPool* pool,
                                                          int64_t* count = nullptr);
  /// Read `file` as if it were one that was opened.
  static arrow::Result<std::shared_ptr<BoundedFile>> Make(
      std::shared_ptr<arrow::io::RandomAccessFile> file, arrow::MemoryPool* pool,
      int64_t* count = nullptr);

  int64_t size() const { return size_; }

  arrow::Status Close() override { return file_->Close(); }
  bool closed() const override { return file_->closed(); }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> GetSize() override { return size_; }
  const arrow::io::IOContext& io_context() const override { return file_->io_context(); }
  arrow::Status WillNeed(const std::vector<arrow::io::ReadRange>& ranges) override {
    return file_->WillNeed(ranges);
  }

  arrow::Result<int64_t> Read(int64_t num_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t num_bytes) override;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t num_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position,
                                                       int64_t num_bytes) override;
  /// Local files are read on the calling thread, remote ones as `file` does it, into
  /// buffers of its own pool: Arrow's threads may free a result after `pool` is gone.
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(
      const arrow::io::IOContext& context, int64_t position, int64_t num_bytes,
      bool allow_short_read) override;

 private:
  BoundedFile(std::shared_ptr<arrow::io::RandomAccessFile> file, int64_t size,
              arrow::MemoryPool* pool, int64_t* count)
      : file_(std::move(file)), size_(size), pool_(pool), count_(count) {}

  /// How many of some bytes the file has.
  arrow::Result<int64_t> BytesWithin(int64_t position, int64_t num_bytes) const;

  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const int64_t size_;
  arrow::MemoryPool* const pool_;
  int64_t* const count_;
  bool is_local_ = true;
  int64_t position_ = 0;
};

}  // namespace xshards::io
