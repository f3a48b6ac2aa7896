// SPDX-License-Identifier: Apache-2.0
#include "io/text/xz_stream.h"

#include <string>
#include <utility>
#include <vector>

#if XSHARDS_USE_LZMA
#include <lzma.h>
#endif

namespace xshards::io {

#if XSHARDS_USE_LZMA

struct XzStream::Decoder {
  Decoder() : bytes(kInputBytes) {}
  ~Decoder() { lzma_end(&state); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  static constexpr size_t kInputBytes = 64 << 10;
  std::vector<uint8_t> bytes;
  lzma_stream state = LZMA_STREAM_INIT;
  lzma_action action = LZMA_RUN;
  bool is_at_end = false;

  arrow::Status Refill(arrow::io::InputStream& input) {
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          input.Read(static_cast<int64_t>(bytes.size()), bytes.data()));
    state.next_in = bytes.data();
    state.avail_in = static_cast<size_t>(got);
    if (got == 0) action = LZMA_FINISH;
    return arrow::Status::OK();
  }
};

bool XzStream::IsAvailable() { return true; }

arrow::Result<std::shared_ptr<arrow::io::InputStream>> XzStream::Make(
    std::shared_ptr<arrow::io::InputStream> input) {
  auto decoder = std::make_unique<Decoder>();
  if (lzma_auto_decoder(&decoder->state, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK) {
    return arrow::Status::OutOfMemory("Could not start the decoder of .xz files");
  }
  return std::shared_ptr<arrow::io::InputStream>(
      new XzStream(std::move(input), std::move(decoder)));
}

arrow::Result<int64_t> XzStream::Fill(int64_t num_bytes, char* out) {
  lzma_stream& state = decoder_->state;
  state.next_out = reinterpret_cast<uint8_t*>(out);
  state.avail_out = static_cast<size_t>(num_bytes);
  while (state.avail_out > 0 && !decoder_->is_at_end) {
    if (state.avail_in == 0 && decoder_->action == LZMA_RUN) {
      ARROW_RETURN_NOT_OK(decoder_->Refill(input()));
    }
    switch (lzma_code(&state, decoder_->action)) {
      case LZMA_OK:
        break;
      case LZMA_STREAM_END:
        decoder_->is_at_end = true;
        break;
      case LZMA_BUF_ERROR:
        return arrow::Status::IOError("Truncated .xz data");
      case LZMA_FORMAT_ERROR:
        return arrow::Status::IOError(
            "Expected .xz data, but the file has another format");
      case LZMA_MEM_ERROR:
        return arrow::Status::OutOfMemory(
            "Not enough memory for the dictionary of .xz data");
      default:
        return arrow::Status::IOError("Damaged .xz data");
    }
  }
  return num_bytes - static_cast<int64_t>(state.avail_out);
}

#else

struct XzStream::Decoder {};

bool XzStream::IsAvailable() { return false; }

arrow::Result<std::shared_ptr<arrow::io::InputStream>> XzStream::Make(
    std::shared_ptr<arrow::io::InputStream>) {
  return arrow::Status::NotImplemented(
      "This build cannot read .xz files: it was built without liblzma");
}

arrow::Result<int64_t> XzStream::Fill(int64_t, char*) { return 0; }

#endif

XzStream::XzStream(std::shared_ptr<arrow::io::InputStream> input,
                   std::unique_ptr<Decoder> decoder)
    : TextStream(std::move(input)), decoder_(std::move(decoder)) {}
XzStream::~XzStream() = default;

}  // namespace xshards::io
