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

/// How the bytes of a text file become its text.
struct TextFormat {
  /// Set: the rest of a line from this character on is dropped, quotes being respected.
  std::optional<char> comment;
  std::optional<char> quotechar;
  char sep = ',';
  TextEncoding encoding = TextEncoding::kUtf8;
  std::optional<TextCompression> compression{};  // unset: as the file's name says
};

/// True if a text can only be read from the start: that of compressed files, with
/// comments, and of characters of several bytes in another encoding than UTF-8. Positions
/// in such a file count bytes of the text, in others bytes of the file.
bool IsSequential(const std::string& path, const TextFormat& format);

/// The text of a file, from one end to the other.
struct TextInput {
  std::shared_ptr<arrow::io::InputStream> text;
  std::shared_ptr<arrow::io::InputStream> bytes;  // below `text`; Tell() is bytes read
  /// How many bytes there must be, where that is known: a file may shrink.
  std::optional<int64_t> num_bytes{};
  std::optional<int64_t> max_text{};  // how much of the text to read

  /// Open at `begin`, ending at `end`, which counts bytes of the file also where
  /// positions count text. NotImplemented names a compression there is no codec for.
  static arrow::Result<TextInput> Open(const std::string& path, const TextFormat& format,
                                       int64_t begin, int64_t end,
                                       arrow::MemoryPool* pool);
  /// The same of a split. IOError where its file was changed since it was listed, other
  /// than by appending to it.
  static arrow::Result<TextInput> Open(const Split& split, const TextFormat& format,
                                       arrow::MemoryPool* pool);
};

inline constexpr int64_t kTextPadding = 64;
inline constexpr int64_t kMaxBlockBytes = 1LL << 30;

/// Cuts a stream into blocks: what the last block left over, followed by new bytes.
/// Memory is bounded by the block size, or by twice the longest record.
class TextBlocks {
 public:
  /// `block_bytes` is how much is read at a time.
  TextBlocks(TextInput input, int64_t block_bytes, arrow::MemoryPool* pool,
             int64_t max_block_bytes = kMaxBlockBytes);

  struct Block {
    std::shared_ptr<arrow::Buffer> buffer;
    bool is_last = false;
    std::string_view text() const { return std::string_view(*buffer); }
    /// For readers that write to the padding.
    char* mutable_text() const { return reinterpret_cast<char*>(buffer->mutable_data()); }
  };

  /// The next block. Where nothing of the last one was consumed it grows. May be empty
  /// when it is the last. Invalid where a record is longer than `max_block_bytes`;
  /// IOError where the text ends too early, for the file has become shorter. There are
  /// kTextPadding bytes in front of a block and behind it that may be read. Its memory is
  /// used again for the block after the next one, unless someone holds it.
  arrow::Result<Block> Next();
  /// Say how much of the block was used; the rest comes again in the next one.
  void Consume(int64_t num_bytes) { consumed_ = num_bytes; }

  /// How much text has been consumed.
  int64_t position() const { return position_ + consumed_; }
  /// How many bytes of the file have been read.
  arrow::Result<int64_t> BytesRead() const { return input_.bytes->Tell(); }

 private:
  TextInput input_;
  int64_t block_bytes_;
  int64_t max_block_bytes_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::Buffer> current_;
  std::shared_ptr<arrow::Buffer> memory_;  // what current_ is a part of
  std::shared_ptr<arrow::Buffer> spare_;   // what the block before was a part of
  int64_t consumed_ = 0;                   // of current_
  int64_t position_ = 0;                   // of the start of current_
};

/// A usual block of text: it, and what is made of it meanwhile, stay in a core's cache.
inline constexpr int64_t kTextBlockBytes = 256LL << 10;

/// How much of a file to read at a time; little at first where only some rows are wanted.
int64_t TextBlockBytes(const std::string& path, std::optional<int64_t> limit);

/// A place in a text: so much of it behind a position of the file where it can begin.
struct TextPlace {
  int64_t begin = 0;
  int64_t offset = 0;
};

/// The number, counted from 1, of the line that holds a place.
arrow::Result<int64_t> LineNumber(const std::string& path, const TextFormat& format,
                                  TextPlace place, arrow::MemoryPool* pool);

}  // namespace xshards::io
