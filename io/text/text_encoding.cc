// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_encoding.h"

#include <algorithm>
#include <utility>

#include <arrow/util/utf8.h>

namespace xshards::io {
namespace {

constexpr std::pair<const char*, TextEncoding> kNames[] = {
    {"utf-8", TextEncoding::kUtf8},        {"latin-1", TextEncoding::kLatin1},
    {"cp1252", TextEncoding::kCp1252},     {"utf-16", TextEncoding::kUtf16},
    {"utf-16-le", TextEncoding::kUtf16Le}, {"utf-16-be", TextEncoding::kUtf16Be}};

}  // namespace

arrow::Result<TextEncoding> TextEncodingFromName(const std::string& name) {
  std::string known;
  for (const auto& [one, encoding] : kNames) {
    if (name == one) return encoding;
    known.append(known.empty() ? "" : ", ").append(one);
  }
  return arrow::Status::Invalid("encoding must be one of ", known, ", got '", name, "'");
}

std::string NameOf(TextEncoding encoding) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [&](const auto& one) { return one.second == encoding; });
  return found->first;
}

bool IsUtf8(std::string_view text) {
  arrow::util::InitializeUTF8();
  return arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(text.data()),
                                   static_cast<int64_t>(text.size()));
}

bool HasOneByteCharacters(TextEncoding encoding) {
  return encoding == TextEncoding::kLatin1 || encoding == TextEncoding::kCp1252;
}

int64_t CountCharacters(std::string_view utf8) {
  // All bytes except continuation bytes: 10xxxxxx.
  return std::count_if(utf8.begin(), utf8.end(),
                       [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
}

}  // namespace xshards::io
