// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_compression.h"

#include <algorithm>
#include <utility>

#include <arrow/io/compressed.h>
#include <arrow/util/compression.h>

#include "io/fs/file_system.h"
#include "io/text/xz_stream.h"

namespace xshards::io {
namespace {

struct Known {
  TextCompression compression;
  const char* name;
  const char* extension;
  arrow::Compression::type codec;
};
constexpr Known kKnown[] = {
    {TextCompression::kNone, "none", nullptr, arrow::Compression::UNCOMPRESSED},
    {TextCompression::kGzip, "gzip", ".gz", arrow::Compression::GZIP},
    {TextCompression::kBz2, "bz2", ".bz2", arrow::Compression::BZ2},
    {TextCompression::kZstd, "zstd", ".zst", arrow::Compression::ZSTD},
    {TextCompression::kLz4, "lz4", ".lz4", arrow::Compression::LZ4_FRAME},
    {TextCompression::kXz, "xz", ".xz", arrow::Compression::UNCOMPRESSED}};

const Known& Find(TextCompression compression) {
  return *std::find_if(std::begin(kKnown), std::end(kKnown),
                       [&](const Known& one) { return one.compression == compression; });
}

}  // namespace

arrow::Result<TextCompression> TextCompressionFromName(const std::string& name) {
  std::string names;
  for (const Known& one : kKnown) {
    if (name == one.name) return one.compression;
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  return arrow::Status::Invalid("compression must be one of ", names, ", got '", name,
                                "'");
}

std::string NameOf(TextCompression compression) { return Find(compression).name; }

TextCompression CompressionOf(const std::string& path) {
  const std::string bare = BarePath(path);
  for (const Known& one : kKnown) {
    if (one.extension != nullptr && bare.ends_with(one.extension)) return one.compression;
  }
  return TextCompression::kNone;
}

bool IsCompressed(const std::string& path) {
  return CompressionOf(path) != TextCompression::kNone;
}

bool CanReadXz() { return XzStream::IsAvailable(); }

arrow::Result<std::shared_ptr<arrow::util::Codec>> MakeCodec(
    TextCompression compression) {
  if (compression == TextCompression::kXz) {
    return arrow::Status::NotImplemented("Writing .xz is not supported");
  }
  return arrow::util::Codec::Create(Find(compression).codec);
}

arrow::Result<std::shared_ptr<arrow::io::InputStream>> Decompress(
    const std::shared_ptr<arrow::io::InputStream>& bytes, TextCompression compression,
    arrow::MemoryPool* pool) {
  if (compression == TextCompression::kNone) return bytes;
  if (compression == TextCompression::kXz) return XzStream::Make(bytes);
  ARROW_ASSIGN_OR_RAISE(auto codec, MakeCodec(compression));
  // The deleter keeps the codec alive: the stream only borrows it.
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::io::InputStream> text,
                        arrow::io::CompressedInputStream::Make(codec.get(), bytes, pool));
  return std::shared_ptr<arrow::io::InputStream>(
      text.get(),
      [text, kept = std::move(codec)](arrow::io::InputStream*) mutable { text.reset(); });
}

}  // namespace xshards::io
