// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/text/text_stream.h"

namespace xshards::io {

/// What an .xz file holds, by liblzma, which only this file includes. Streams that follow
/// each other are read as one. Memory is that of the dictionary the file asks for.
class XzStream final : public TextStream {
 public:
  /// Whether the library was built with liblzma.
  static bool IsAvailable();
  /// NotImplemented where it was not.
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
