// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "io/text/text_compression.h"
#include "io/text/text_encoding.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// How the bytes of a text file are decoded to text.
struct TextFormat {
  /// If set, the rest of a line from this character on is dropped, except in quotes.
  std::optional<char> comment;
  std::optional<char> quotechar;
  char sep = ',';
  TextEncoding encoding = TextEncoding::kUtf8;
  std::optional<TextCompression> compression{};  // unset: by the file's name
};

/// True if a text can only be read from the start: compressed files, files with comments,
/// and multi-byte encodings other than UTF-8. Positions in such a file count bytes of the
/// text, in others bytes of the file.
bool IsSequential(const std::string& path, const TextFormat& format);

/// The text of a file, from one end to the other.
struct TextInput {
  std::shared_ptr<arrow::io::InputStream> text;
  std::shared_ptr<arrow::io::InputStream>
      bytes;  // the source of `text`; Tell() is bytes read
  /// The expected number of bytes, if known: a file may shrink.
  std::optional<int64_t> num_bytes{};
  std::optional<int64_t> max_text{};  // the bytes of text to read

  /// Open at `begin`, ending at `end`, which counts bytes of the file even if positions
  /// count text. NotImplemented names a compression without a codec.
  static arrow::Result<TextInput> Open(const std::string& path, const TextFormat& format,
                                       int64_t begin, int64_t end,
                                       arrow::MemoryPool* pool);
  /// The same for a split. IOError if its file has changed since it was listed, other
  /// than by appending.
  static arrow::Result<TextInput> Open(const Split& split, const TextFormat& format,
                                       arrow::MemoryPool* pool);
};

inline constexpr int64_t kTextPadding = 64;
inline constexpr int64_t kMaxBlockBytes = 1LL << 30;

/// Reads a stream in blocks: the unconsumed rest of the last block, followed by new
/// bytes. Memory is bounded by the block size, or by twice the longest record.
class TextBlocks {
 public:
  /// `block_bytes` are read at a time.
  TextBlocks(TextInput input, int64_t block_bytes, arrow::MemoryPool* pool,
             int64_t max_block_bytes = kMaxBlockBytes);

  struct Block {
    std::shared_ptr<arrow::Buffer> buffer;
    bool is_last = false;
    std::string_view text() const { return std::string_view(*buffer); }
    /// For readers that write to the padding.
    char* mutable_text() const { return reinterpret_cast<char*>(buffer->mutable_data()); }
  };

  /// The next block. If nothing of the last one was consumed it grows. The last one may
  /// be empty. Invalid if a record is longer than `max_block_bytes`; IOError if the text
  /// ends early because the file was truncated. kTextPadding bytes before and after a
  /// block may be read. Its memory is reused for the block after the next one, unless it
  /// is still referenced.
  arrow::Result<Block> Next();
  /// Set how much of the block was used; the rest is repeated in the next one.
  void Consume(int64_t num_bytes) { consumed_ = num_bytes; }

  /// The bytes of text consumed so far.
  int64_t position() const { return position_ + consumed_; }
  /// The bytes of the file read so far.
  arrow::Result<int64_t> BytesRead() const { return input_.bytes->Tell(); }

 private:
  TextInput input_;
  int64_t block_bytes_;
  int64_t max_block_bytes_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::Buffer> current_;
  std::shared_ptr<arrow::Buffer> memory_;  // contains current_
  std::shared_ptr<arrow::Buffer> spare_;   // contained the previous block
  int64_t consumed_ = 0;                   // of current_
  int64_t position_ = 0;                   // of the start of current_
};

/// The usual size of a block: the block and its parsed columns fit a core's cache.
inline constexpr int64_t kTextBlockBytes = 256LL << 10;

/// The bytes of a file to read at a time; few at first if only some rows are requested.
int64_t TextBlockBytes(const std::string& path, std::optional<int64_t> limit);

/// A place in a text: an offset in the text that starts at a position of the file.
struct TextPlace {
  int64_t begin = 0;
  int64_t offset = 0;
};

/// The number, from 1, of the line that contains a place.
arrow::Result<int64_t> LineNumber(const std::string& path, const TextFormat& format,
                                  TextPlace place, arrow::MemoryPool* pool);

}  // namespace xshards::io
