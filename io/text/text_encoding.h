// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards::io {

/// How the characters of a text file are written. kUtf16 begins with a mark that says in
/// which order bytes are.
enum class TextEncoding : uint8_t { kUtf8, kLatin1, kCp1252, kUtf16, kUtf16Le, kUtf16Be };

/// The names of these: "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be".
XSHARDS_EXPORT arrow::Result<TextEncoding> TextEncodingFromName(const std::string& name);
std::string NameOf(TextEncoding encoding);

/// Whether a text is UTF-8.
bool IsUtf8(std::string_view text);

/// Whether every character is one byte, and those of ASCII are themselves: such text can
/// be cut before it is decoded.
bool HasOneByteCharacters(TextEncoding encoding);

/// How many bytes of a file a text has become from, where it has one-byte characters.
int64_t CountCharacters(std::string_view utf8);

}  // namespace xshards::io
