// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/framing.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/util/endian.h>

#include "io/fs/file_system.h"
#include "io/tfrecord/crc32c.h"

namespace xshards::io {
namespace {

template <typename T>
T ReadLittleEndian(const char* bytes) {
  T value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return arrow::bit_util::FromLittleEndian(value);
}

template <typename T>
void AppendLittleEndian(T value, std::string* out) {
  value = arrow::bit_util::ToLittleEndian(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

arrow::Status TfRecordFault(int64_t position, const char* what) {
  return arrow::Status::Invalid("The TFRecord at byte ", position, " ", what);
}

constexpr char kBadLength[] =
    "has a length whose CRC does not match: the file is damaged, compressed, or not a "
    "TFRecord file";
constexpr char kCutShort[] = "is truncated";
constexpr char kBadData[] = "has data whose CRC does not match: the file is damaged";

}  // namespace

std::optional<int64_t> ReadRecordLength(const char* header) {
  const auto length = ReadLittleEndian<uint64_t>(header);
  const auto crc = ReadLittleEndian<uint32_t>(header + sizeof(length));
  if (MaskedCrc32c({header, sizeof(length)}) != crc) return std::nullopt;
  constexpr int64_t kOverhead = kRecordHeaderBytes + kRecordFooterBytes;
  if (length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() - kOverhead)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(length);
}

void AppendRecord(std::string_view data, std::string* out) {
  const size_t header = out->size();
  AppendLittleEndian(static_cast<uint64_t>(data.size()), out);
  AppendLittleEndian(MaskedCrc32c({out->data() + header, sizeof(uint64_t)}), out);
  *out += data;
  AppendLittleEndian(MaskedCrc32c(data), out);
}

arrow::Result<std::vector<int64_t>> FindTfRecordStarts(arrow::io::RandomAccessFile& file,
                                                       int64_t size, int64_t target_bytes,
                                                       const arrow::StopToken& stop,
                                                       int64_t* bytes_read) {
  // Headers of short records are read in blocks of the file, those of long ones
  // individually.
  constexpr int64_t kLargestPiece = 1LL << 20;
  constexpr int64_t kSmallestPiece = 4096;
  std::vector<int64_t> starts;
  std::vector<char> piece;
  int64_t piece_begin = 0;
  int64_t piece_bytes = kSmallestPiece;
  int64_t next = target_bytes;
  for (int64_t position = 0; position < size;) {
    if (size - position < kRecordHeaderBytes) return TfRecordFault(position, kCutShort);
    const auto piece_end = piece_begin + static_cast<int64_t>(piece.size());
    if (position < piece_begin || position + kRecordHeaderBytes > piece_end) {
      ARROW_RETURN_NOT_OK(stop.Poll());
      const bool was_passed_over = position >= piece_end + piece_bytes;
      piece_bytes =
          was_passed_over ? kSmallestPiece : std::min(piece_bytes * 2, kLargestPiece);
      piece.resize(static_cast<size_t>(std::min(piece_bytes, size - position)));
      ARROW_ASSIGN_OR_RAISE(
          const int64_t got,
          file.ReadAt(position, static_cast<int64_t>(piece.size()), piece.data()));
      *bytes_read += got;
      piece.resize(static_cast<size_t>(got));
      piece_begin = position;
      if (got < kRecordHeaderBytes) return TfRecordFault(position, kCutShort);
    }
    if (position >= next) {
      starts.push_back(position);
      next = position + target_bytes;
    }
    const auto length = ReadRecordLength(piece.data() + (position - piece_begin));
    if (!length.has_value()) return TfRecordFault(position, kBadLength);
    constexpr int64_t kOverhead = kRecordHeaderBytes + kRecordFooterBytes;
    if (*length > size - position - kOverhead) return TfRecordFault(position, kCutShort);
    position += *length + kOverhead;
  }
  return starts;
}

RecordInput::RecordInput(const Split& split, TextBlocks blocks)
    : path_(split.path), begin_(split.begin), blocks_(std::move(blocks)) {}

arrow::Result<RecordInput> RecordInput::Open(const Split& split,
                                             std::optional<TextCompression> compression,
                                             int64_t block_bytes,
                                             arrow::MemoryPool* pool) {
  TextFormat format;
  format.compression = compression;
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(split, format, pool));
  return RecordInput(split, TextBlocks(std::move(input), block_bytes, pool));
}

arrow::Status RecordInput::Damaged(const char* what) const {
  const int64_t position = begin_ + block_position_ + static_cast<int64_t>(at_);
  return WithPath(TfRecordFault(position, what), "Could not read", path_);
}

arrow::Status RecordInput::Refill() {
  blocks_.Consume(static_cast<int64_t>(at_));
  auto block = blocks_.Next();
  if (!block.ok()) return WithPath(block.status(), "Could not read", path_);
  block_ = block.MoveValueUnsafe();
  block_text_ = block_.text();
  block_position_ = blocks_.position();
  at_ = 0;
  return arrow::Status::OK();
}

arrow::Result<std::optional<std::string_view>> RecordInput::Next() {
  while (true) {
    const std::string_view rest = block_text_.substr(at_);
    const auto left = static_cast<int64_t>(rest.size());
    if (left >= kRecordHeaderBytes) {
      const auto length = ReadRecordLength(rest.data());
      if (!length.has_value()) return Damaged(kBadLength);
      if (left - kRecordHeaderBytes - kRecordFooterBytes >= *length) {
        const std::string_view data = rest.substr(kRecordHeaderBytes, *length);
        if (ReadLittleEndian<uint32_t>(data.data() + data.size()) != MaskedCrc32c(data)) {
          return Damaged(kBadData);
        }
        position_ = block_position_ + static_cast<int64_t>(at_);
        at_ += data.size() + kRecordHeaderBytes + kRecordFooterBytes;
        return data;
      }
    }
    if (block_.buffer != nullptr && block_.is_last) {
      if (left > 0) return Damaged(kCutShort);
      return std::nullopt;
    }
    ARROW_RETURN_NOT_OK(Refill());
  }
}

}  // namespace xshards::io
