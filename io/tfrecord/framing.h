// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/text/text_input.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

// A TFRecord file is a sequence of records: the length of the data (8 bytes, little
// endian), the masked CRC-32C of these 8 bytes, the data, and the masked CRC-32C of it.

inline constexpr int64_t kRecordHeaderBytes = 12;
inline constexpr int64_t kRecordFooterBytes = 4;

/// The length in a record's header of kRecordHeaderBytes; nullopt if its CRC does not
/// match or the length is impossible.
std::optional<int64_t> ReadRecordLength(const char* header);

/// Append a record with `data`.
void AppendRecord(std::string_view data, std::string* out);

/// The starts of records at or after every `target_bytes` of a file, without the first.
/// Invalid if a header is damaged or the last record is truncated.
arrow::Result<std::vector<int64_t>> FindTfRecordStarts(arrow::io::RandomAccessFile& file,
                                                       int64_t size, int64_t target_bytes,
                                                       const arrow::StopToken& stop,
                                                       int64_t* bytes_read);

/// Reads the records of a split in order, on one thread.
class RecordInput {
 public:
  /// `block_bytes` are read at a time.
  static arrow::Result<RecordInput> Open(const Split& split,
                                         std::optional<TextCompression> compression,
                                         int64_t block_bytes, arrow::MemoryPool* pool);

  /// The data of the next record, valid until the next call; nullopt at the end. Invalid
  /// names the file and the byte of a record that is damaged.
  arrow::Result<std::optional<std::string_view>> Next();

  /// Where the last returned record begins, relative to the start of the split.
  int64_t position() const { return position_; }
  /// The bytes of the file read so far.
  arrow::Result<int64_t> BytesRead() const { return blocks_.BytesRead(); }
  /// Whether all records of the last block have been returned.
  bool is_at_block_end() const { return at_ == block_text_.size(); }

 private:
  RecordInput(const Split& split, TextBlocks blocks);

  arrow::Status Damaged(const char* what) const;
  arrow::Status Refill();

  std::string path_;
  int64_t begin_;
  TextBlocks blocks_;
  TextBlocks::Block block_;
  std::string_view block_text_;
  int64_t block_position_ = 0;  // of block_text_, after the start of the split
  size_t at_ = 0;               // of the next record in block_text_
  int64_t position_ = 0;
};

}  // namespace xshards::io
