// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards::io {

/// The encoding of a text file. kUtf16 begins with a byte order mark.
enum class TextEncoding : uint8_t { kUtf8, kLatin1, kCp1252, kUtf16, kUtf16Le, kUtf16Be };

/// The names of these: "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be".
XSHARDS_EXPORT arrow::Result<TextEncoding> TextEncodingFromName(const std::string& name);
std::string NameOf(TextEncoding encoding);
constexpr TextEncoding LastValue(TextEncoding) { return TextEncoding::kUtf16Be; }

/// Whether a text is UTF-8.
bool IsUtf8(std::string_view text);

/// Whether every character is one byte and ASCII is unchanged: such text can be split
/// before it is decoded.
bool HasOneByteCharacters(TextEncoding encoding);

/// The number of bytes of a file from which a text was decoded, for one-byte encodings.
int64_t CountCharacters(std::string_view utf8);

}  // namespace xshards::io
