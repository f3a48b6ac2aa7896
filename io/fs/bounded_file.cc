// SPDX-License-Identifier: Apache-2.0
#include "io/fs/bounded_file.h"

#include <algorithm>

#include <arrow/buffer.h>

#include "io/fs/file_fingerprint.h"
#include "io/fs/file_system.h"

namespace xshards::io {

arrow::Result<std::shared_ptr<BoundedFile>> BoundedFile::Make(
    std::shared_ptr<arrow::io::RandomAccessFile> file, arrow::MemoryPool* pool,
    int64_t* count) {
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  return std::shared_ptr<BoundedFile>(
      new BoundedFile(std::move(file), size, pool, count));
}

arrow::Result<std::shared_ptr<BoundedFile>> BoundedFile::Open(const std::string& path,
                                                              arrow::MemoryPool* pool,
                                                              int64_t* count) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
  auto bounded = Make(std::move(file), pool, count);
  if (!bounded.ok()) return WithPath(bounded.status(), "Could not open", path);
  (*bounded)->is_local_ = IsLocal(path);
  return bounded;
}

arrow::Result<std::shared_ptr<BoundedFile>> BoundedFile::Open(const Split& split,
                                                              arrow::MemoryPool* pool,
                                                              int64_t* count) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(split.path));
  auto status = CheckUnchanged(split, *file, MayGrow::kNo);
  if (!status.ok()) return WithPath(status, "Could not read", split.path);
  auto bounded = Make(std::move(file), pool, count);
  if (!bounded.ok()) return WithPath(bounded.status(), "Could not open", split.path);
  (*bounded)->is_local_ = IsLocal(split.path);
  return bounded;
}

arrow::Status BoundedFile::Seek(int64_t position) {
  if (position < 0) return arrow::Status::Invalid("There is no byte ", position);
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<int64_t> BoundedFile::BytesWithin(int64_t position,
                                                int64_t num_bytes) const {
  if (position < 0 || num_bytes < 0) {
    return arrow::Status::Invalid("Expected to read from a byte of the file, got ",
                                  num_bytes, " bytes at ", position);
  }
  return std::clamp<int64_t>(size_ - position, 0, num_bytes);
}

arrow::Result<int64_t> BoundedFile::ReadAt(int64_t position, int64_t num_bytes,
                                           void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t wanted, BytesWithin(position, num_bytes));
  if (wanted == 0) return 0;
  ARROW_ASSIGN_OR_RAISE(const int64_t got, file_->ReadAt(position, wanted, out));
  if (got < wanted) {
    return arrow::Status::IOError("Expected ", size_, " bytes; the file has become ",
                                  "shorter while it was read, to ", position + got);
  }
  if (count_ != nullptr) *count_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> BoundedFile::ReadAt(int64_t position,
                                                                  int64_t num_bytes) {
  ARROW_ASSIGN_OR_RAISE(const int64_t wanted, BytesWithin(position, num_bytes));
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(wanted, pool_));
  ARROW_RETURN_NOT_OK(ReadAt(position, wanted, buffer->mutable_data()));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Future<std::shared_ptr<arrow::Buffer>> BoundedFile::ReadAsync(
    const arrow::io::IOContext& /*context*/, int64_t position, int64_t num_bytes,
    bool allow_short_read) {
  using Read = arrow::Future<std::shared_ptr<arrow::Buffer>>;
  if (is_local_) {
    return Read::MakeFinished(ReadAt(position, num_bytes, allow_short_read));
  }
  const auto wanted = BytesWithin(position, num_bytes);
  if (!wanted.ok()) return Read::MakeFinished(wanted.status());
  if (count_ != nullptr) *count_ += *wanted;
  return file_->ReadAsync(file_->io_context(), position,
                          allow_short_read ? *wanted : num_bytes, allow_short_read);
}

arrow::Result<int64_t> BoundedFile::Read(int64_t num_bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, num_bytes, out));
  position_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> BoundedFile::Read(int64_t num_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, num_bytes));
  position_ += buffer->size();
  return buffer;
}

}  // namespace xshards::io
