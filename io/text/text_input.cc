// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_input.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "io/fs/file_fingerprint.h"
#include "io/fs/file_system.h"
#include "io/text/comment_stream.h"
#include "io/text/transcoding_stream.h"

namespace xshards::io {
namespace {

arrow::Status CheckKnownCompression(const std::string& path) {
  for (const char* extension : {".zip", ".7z", ".snappy", ".tar"}) {
    if (BarePath(path).ends_with(extension)) {
      return arrow::Status::NotImplemented(
          "Compressed text can be read from .gz, .bz2, .zst, .lz4 and .xz files, not "
          "from '",
          path, "'");
    }
  }
  return arrow::Status::OK();
}

// Skip the first bytes of a text, block by block: Advance() would hold them all in
// memory.
arrow::Status Pass(int64_t num_bytes, arrow::io::InputStream& text,
                   arrow::MemoryPool* pool) {
  const int64_t piece_bytes = std::min(num_bytes, kTextBlockBytes);
  ARROW_ASSIGN_OR_RAISE(auto piece, arrow::AllocateBuffer(piece_bytes, pool));
  while (num_bytes > 0) {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, text.Read(std::min(num_bytes, piece_bytes),
                                                       piece->mutable_data()));
    if (got == 0) break;
    num_bytes -= got;
  }
  return arrow::Status::OK();
}

// The text of an open file, see TextInput::Open.
arrow::Result<TextInput> TextOf(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                const std::string& path, const TextFormat& format,
                                int64_t begin, int64_t end, arrow::MemoryPool* pool) {
  if (!format.compression.has_value()) {
    ARROW_RETURN_NOT_OK(CheckKnownCompression(path));
  }
  const bool is_sequential = IsSequential(path, format);
  const int64_t first_byte = is_sequential ? 0 : begin;
  TextInput input;
  ARROW_ASSIGN_OR_RAISE(input.bytes, arrow::io::RandomAccessFile::GetStream(
                                         std::move(file), first_byte, end - first_byte));
  if (!is_sequential) input.num_bytes = end - begin;
  ARROW_ASSIGN_OR_RAISE(
      input.text,
      Decompress(input.bytes, format.compression.value_or(CompressionOf(path)), pool));
  if (format.encoding != TextEncoding::kUtf8) {
    input.text = std::make_shared<TranscodingStream>(
        std::move(input.text), format.encoding, is_sequential ? 0 : begin);
  }
  if (format.comment.has_value()) {
    input.text = std::make_shared<CommentStream>(std::move(input.text), *format.comment,
                                                 format.sep, format.quotechar);
  }
  if (is_sequential) {
    auto status = Pass(begin, *input.text, pool);
    if (!status.ok()) return WithPath(status, "Could not read", path);
  }
  return input;
}

}  // namespace

bool IsSequential(const std::string& path, const TextFormat& format) {
  const bool is_plain =
      format.encoding == TextEncoding::kUtf8 || HasOneByteCharacters(format.encoding);
  return !is_plain || format.comment.has_value() ||
         format.compression.value_or(CompressionOf(path)) != TextCompression::kNone;
}

arrow::Result<TextInput> TextInput::Open(const std::string& path,
                                         const TextFormat& format, int64_t begin,
                                         int64_t end, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
  return TextOf(std::move(file), path, format, begin, end, pool);
}

arrow::Result<TextInput> TextInput::Open(const Split& split, const TextFormat& format,
                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(split.path));
  auto status = CheckUnchanged(split, *file);
  if (!status.ok()) return WithPath(status, "Could not read", split.path);
  return TextOf(std::move(file), split.path, format, split.begin, split.end, pool);
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
                                  position(), " is longer, or its quotes are unbalanced");
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
  // The remaining bytes, as far as they are requested.
  const int64_t wanted = input_.max_text.value_or(std::numeric_limits<int64_t>::max()) -
                         (position_ + consumed_);
  while (filled < size) {
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        input_.text->Read(std::min(size, wanted) - filled, data + filled));
    if (got == 0) {
      is_last = true;
      break;
    }
    filled += got;
  }
  position_ += consumed_;
  consumed_ = 0;
  if (is_last && input_.num_bytes.has_value()) {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, BytesRead());
    if (got < *input_.num_bytes) {
      return arrow::Status::IOError("Expected ", *input_.num_bytes, " bytes, got ", got,
                                    ": the file was truncated after it was opened");
    }
  }
  std::memset(data + filled, 0, kTextPadding);
  current_ = arrow::SliceMutableBuffer(next, kTextPadding, filled);
  spare_ = std::exchange(memory_, std::move(next));
  return Block{.buffer = current_, .is_last = is_last};
}

int64_t TextBlockBytes(const std::string& path, std::optional<int64_t> limit) {
  constexpr int64_t kRemoteBlockBytes = 4LL << 20;  // each request has its own latency
  if (limit.has_value() && *limit < 1000) return kTextBlockBytes / 4;
  return IsLocal(path) ? kTextBlockBytes : kRemoteBlockBytes;
}

namespace {

// The number of line feeds in the first `num_bytes` of a text.
arrow::Result<int64_t> CountLineFeeds(const TextInput& input, int64_t num_bytes,
                                      arrow::MemoryPool* pool) {
  constexpr int64_t kChunkBytes = 1LL << 20;
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(kChunkBytes, pool));
  int64_t count = 0;
  for (int64_t at = 0; at < num_bytes;) {
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        input.text->Read(std::min(kChunkBytes, num_bytes - at), chunk->mutable_data()));
    if (got == 0) break;
    count += std::count(chunk->data(), chunk->data() + got, uint8_t{'\n'});
    at += got;
  }
  return count;
}

}  // namespace

arrow::Result<int64_t> LineNumber(const std::string& path, const TextFormat& format,
                                  TextPlace place, arrow::MemoryPool* pool) {
  if (IsSequential(path, format)) {
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, format, 0, kToTheEnd, pool));
    ARROW_ASSIGN_OR_RAISE(const int64_t count,
                          CountLineFeeds(input, place.begin + place.offset, pool));
    return count + 1;
  }
  // A line feed is the same byte in all encodings that can be split.
  TextFormat bytes = format;
  bytes.encoding = TextEncoding::kUtf8;
  ARROW_ASSIGN_OR_RAISE(auto before, TextInput::Open(path, bytes, 0, place.begin, pool));
  ARROW_ASSIGN_OR_RAISE(const int64_t lines_before,
                        CountLineFeeds(before, place.begin, pool));
  // A character is at most as long in the file as in the text.
  ARROW_ASSIGN_OR_RAISE(auto text, TextInput::Open(path, format, place.begin,
                                                   place.begin + place.offset, pool));
  ARROW_ASSIGN_OR_RAISE(const int64_t lines, CountLineFeeds(text, place.offset, pool));
  return lines_before + lines + 1;
}

}  // namespace xshards::io
