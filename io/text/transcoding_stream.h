// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/text/text_encoding.h"
#include "io/text/text_stream.h"

namespace xshards::io {

/// A stream of text as UTF-8, made from text in another encoding. Invalid names the
/// position of bytes that are not a valid character.
class TranscodingStream final : public TextStream {
 public:
  /// `position` is that of the first byte of `input`, for messages.
  TranscodingStream(std::shared_ptr<arrow::io::InputStream> input, TextEncoding encoding,
                    int64_t position);

 private:
  arrow::Result<int64_t> Fill(int64_t num_bytes, char* out) override;
  // Read more bytes after the remaining ones.
  arrow::Status Refill();
  // Decode the available bytes, into room for at least one character; returns its end.
  arrow::Result<char*> Decode(char* out, char* end);
  arrow::Result<char*> DecodeBytes(char* out, char* end);
  arrow::Result<char*> DecodeUnits(char* out, char* end);
  arrow::Status TakeMark();
  uint32_t UnitAt(size_t at) const;
  arrow::Status NoCharacter(size_t num_bytes) const;

  TextEncoding encoding_;       // for kUtf16, that of the byte order mark once it is read
  std::vector<uint8_t> bytes_;  // read, of which [begin_, end_) are not decoded
  size_t begin_ = 0;
  size_t end_ = 0;
  int64_t position_;  // of bytes_[begin_] in the input
  bool is_at_end_ = false;
  std::array<char, 4> character_{};  // one that did not fit completely
  size_t character_begin_ = 0;
  size_t character_end_ = 0;
};

}  // namespace xshards::io
