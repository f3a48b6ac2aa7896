// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/text/text_stream.h"

namespace xshards::io {

/// Decompresses an .xz file with liblzma, which only this file includes. Concatenated
/// streams are read as one. Memory is that of the dictionary that the file requires.
class XzStream final : public TextStream {
 public:
  /// Whether the library was built with liblzma.
  static bool IsAvailable();
  /// NotImplemented if it was not.
  static arrow::Result<std::shared_ptr<arrow::io::InputStream>> Make(
      std::shared_ptr<arrow::io::InputStream> input);
  ~XzStream() override;

 private:
  struct Decoder;
  XzStream(std::shared_ptr<arrow::io::InputStream> input,
           std::unique_ptr<Decoder> decoder);
  arrow::Result<int64_t> Fill(int64_t num_bytes, char* out) override;

  const std::unique_ptr<Decoder> decoder_;
};

}  // namespace xshards::io
