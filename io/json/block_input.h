// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "io/text/text_input.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// How records follow each other in a file.
enum class JsonLayout : uint8_t { kLines, kArray };

/// The text of a split in blocks, each followed by kJsonPadding zero bytes, or by the
/// line that continues in the next block. A block is valid until the one after the next
/// is read.
class JsonInput {
 public:
  struct Block {
    const char* text = nullptr;
    int64_t size = 0;      // of lines: up to the end of the last complete one
    int64_t position = 0;  // of the block in the text of the file
    bool is_last = false;
  };

  /// Of text that begins at `split.begin` of a file.
  JsonInput(const Split& split, JsonLayout layout, TextBlocks blocks);
  static arrow::Result<JsonInput> Open(const Split& split, JsonLayout layout,
                                       int64_t block_bytes, arrow::MemoryPool* pool);

  /// The next block: what Consume() left of the last, and more. If nothing of it was
  /// consumed, the block grows; Invalid if it would exceed a gigabyte. Errors name the
  /// file.
  arrow::Result<Block> Next();
  /// Set how much of the block was used.
  void Consume(int64_t num_bytes) { blocks_.Consume(num_bytes); }

  /// The bytes of the file read so far.
  arrow::Result<int64_t> BytesRead() const { return blocks_.BytesRead(); }

 private:
  std::string path_;
  int64_t begin_;  // of the split
  JsonLayout layout_;
  TextBlocks blocks_;
};

/// The layout implied by the first non-blank character of a file. An empty file is lines.
arrow::Result<JsonLayout> FindJsonLayout(const std::string& path,
                                         arrow::MemoryPool* pool);

}  // namespace xshards::io
