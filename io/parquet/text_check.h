// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <arrow/status.h>

#include "io/text/text_encoding.h"

namespace xshards::io {

/// Check that each of some adjacent values is UTF-8; `begin_of(i)` is where value i
/// begins in their text.
template <typename BeginOf>
arrow::Status CheckUtf8(std::string_view text, int64_t num_values, BeginOf begin_of) {
  bool is_utf8 = IsUtf8(text);
  // No value begins in the middle of a character.
  for (int64_t i = 0; i < num_values; ++i) {
    const auto begin = static_cast<size_t>(begin_of(i));
    const auto first = static_cast<uint8_t>(begin < text.size() ? text[begin] : 0);
    is_utf8 &= (first & 0xC0) != 0x80;
  }
  if (is_utf8) return arrow::Status::OK();
  return arrow::Status::Invalid("Text is not UTF-8");
}

}  // namespace xshards::io
