// SPDX-License-Identifier: Apache-2.0
#include "io/text_input.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/io/compressed.h>
#include <arrow/util/compression.h>

#include "io/comment_stream.h"
#include "io/file_system.h"

namespace xshards::io {
namespace {

arrow::Status CheckKnownCompression(const std::string& path) {
  for (const char* extension : {".xz", ".zip", ".7z", ".snappy", ".tar"}) {
    if (BarePath(path).ends_with(extension)) {
      return arrow::Status::NotImplemented(
          "Compressed text can be read from .gz, .bz2, .zst and .lz4 files, not from '",
          path, "'");
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Compression::type CompressionOf(const std::string& path) {
  const std::string bare = BarePath(path);
  if (bare.ends_with(".gz")) return arrow::Compression::GZIP;
  if (bare.ends_with(".bz2")) return arrow::Compression::BZ2;
  if (bare.ends_with(".zst")) return arrow::Compression::ZSTD;
  if (bare.ends_with(".lz4")) return arrow::Compression::LZ4_FRAME;
  return arrow::Compression::UNCOMPRESSED;
}

bool IsCompressed(const std::string& path) {
  return CompressionOf(path) != arrow::Compression::UNCOMPRESSED;
}

bool IsSequential(const std::string& path, const TextFormat& format) {
  return format.comment.has_value() || IsCompressed(path);
}

arrow::Result<TextInput> TextInput::Open(const std::string& path,
                                         const TextFormat& format, int64_t begin,
                                         int64_t end, arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(CheckKnownCompression(path));
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
  TextInput input;
  if (!IsSequential(path, format)) {
    ARROW_ASSIGN_OR_RAISE(input.bytes, arrow::io::RandomAccessFile::GetStream(
                                           std::move(file), begin, end - begin));
    input.text = input.bytes;
    input.num_bytes = end - begin;
    return input;
  }
  input.bytes = file;
  input.text = file;
  if (IsCompressed(path)) {
    ARROW_ASSIGN_OR_RAISE(auto codec, arrow::util::Codec::Create(CompressionOf(path)));
    // The stream holds on to the codec through a deleter, for it only borrows it.
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::io::InputStream> text,
        arrow::io::CompressedInputStream::Make(codec.get(), input.bytes, pool));
    input.text = std::shared_ptr<arrow::io::InputStream>(
        text.get(), [text, kept = std::shared_ptr<arrow::util::Codec>(std::move(codec))](
                        arrow::io::InputStream*) mutable { text.reset(); });
  }
  if (format.comment.has_value()) {
    input.text = std::make_shared<CommentStream>(std::move(input.text), *format.comment,
                                                 format.sep, format.quotechar);
  }
  if (begin > 0) {
    auto status = input.text->Advance(begin);
    if (!status.ok()) return WithPath(status, "Could not read", path);
  }
  return input;
}

TextBlocks::TextBlocks(TextInput input, int64_t block_bytes, arrow::MemoryPool* pool,
                       int64_t max_block_bytes)
    : input_(std::move(input)),
      block_bytes_(block_bytes),
      max_block_bytes_(max_block_bytes),
      pool_(pool) {}

arrow::Result<TextBlocks::Block> TextBlocks::Next() {
  const int64_t left = current_ == nullptr ? 0 : current_->size() - consumed_;
  if (current_ != nullptr && consumed_ == 0) block_bytes_ *= 2;
  if (left + block_bytes_ > max_block_bytes_) {
    return arrow::Status::Invalid("Expected records of less than ",
                                  max_block_bytes_ >> 30, " GB; the one at byte ",
                                  position(), " is longer, or its quotes do not match");
  }
  const int64_t size = left + block_bytes_;
  if (spare_ == nullptr || spare_.use_count() > 1 ||
      spare_->size() < size + 2 * kTextPadding) {
    ARROW_ASSIGN_OR_RAISE(spare_, arrow::AllocateBuffer(size + 2 * kTextPadding, pool_));
  }
  std::shared_ptr<arrow::Buffer> next = std::move(spare_);
  std::memset(next->mutable_data(), 0, kTextPadding);
  uint8_t* const data = next->mutable_data() + kTextPadding;
  if (left > 0) {
    std::memcpy(data, current_->data() + consumed_, static_cast<size_t>(left));
  }
  int64_t filled = left;
  bool is_last = false;
  while (filled < size) {
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          input_.text->Read(size - filled, data + filled));
    if (got == 0) {
      is_last = true;
      break;
    }
    filled += got;
  }
  position_ += consumed_;
  consumed_ = 0;
  if (is_last && position_ + filled < input_.num_bytes.value_or(0)) {
    return arrow::Status::IOError("Expected ", *input_.num_bytes, " bytes, got ",
                                  position_ + filled,
                                  ": the file has become shorter since it was opened");
  }
  std::memset(data + filled, 0, kTextPadding);
  current_ = arrow::SliceMutableBuffer(next, kTextPadding, filled);
  spare_ = std::exchange(memory_, std::move(next));
  return Block{.buffer = current_, .is_last = is_last};
}

bool IsLocal(const std::string& path) {
  return !IsUri(path) || path.starts_with("file:");
}

int64_t TextBlockBytes(const std::string& path, std::optional<int64_t> limit) {
  constexpr int64_t kRemoteBlockBytes = 4LL << 20;  // each request costs time of its own
  if (limit.has_value() && *limit < 1000) return kTextBlockBytes / 4;
  return IsLocal(path) ? kTextBlockBytes : kRemoteBlockBytes;
}

arrow::Result<int64_t> LineNumber(const std::string& path, const TextFormat& format,
                                  int64_t position, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, format, 0, position, pool));
  constexpr int64_t kChunkBytes = 1LL << 20;
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(kChunkBytes, pool));
  int64_t line = 1;
  for (int64_t at = 0; at < position;) {
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        input.text->Read(std::min(kChunkBytes, position - at), chunk->mutable_data()));
    if (got == 0) break;
    line += std::count(chunk->data(), chunk->data() + got, uint8_t{'\n'});
    at += got;
  }
  return line;
}

}  // namespace xshards::io
