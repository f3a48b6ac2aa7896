// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/type_fwd.h>

#include "xshards/export.h"

namespace xshards::io {

enum class TextCompression : uint8_t { kNone, kGzip, kBz2, kZstd, kLz4, kXz };

/// The names of these: "none", "gzip", "bz2", "zstd", "lz4", "xz".
XSHARDS_EXPORT arrow::Result<TextCompression> TextCompressionFromName(
    const std::string& name);
std::string NameOf(TextCompression compression);
constexpr TextCompression LastValue(TextCompression) { return TextCompression::kXz; }

/// The compression implied by the file's name: .gz, .bz2, .zst, .lz4, .xz, or none.
TextCompression CompressionOf(const std::string& path);
bool IsCompressed(const std::string& path);

/// Whether .xz files can be read: the library must be built with liblzma.
XSHARDS_EXPORT bool CanReadXz();

/// The codec; NotImplemented if Arrow has none.
arrow::Result<std::shared_ptr<arrow::util::Codec>> MakeCodec(TextCompression compression);

/// The decompressed bytes. A file of several concatenated streams gives them all.
/// NotImplemented if there is no codec.
arrow::Result<std::shared_ptr<arrow::io::InputStream>> Decompress(
    const std::shared_ptr<arrow::io::InputStream>& bytes, TextCompression compression,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
