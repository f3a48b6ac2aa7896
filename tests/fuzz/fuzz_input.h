// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "io/csv/options.h"

namespace xshards::io::fuzz {

/// The fuzzer's input: the first bytes choose options, the rest is text.
struct CsvInput {
  CsvOptions options;
  int64_t block_bytes = 0;  // small, so that records are cut
  size_t chunk_bytes = 0;   // bytes fed at a time
  std::string text;
};

inline CsvInput ToCsvInput(const uint8_t* data, size_t size) {
  constexpr size_t kOptionBytes = 3;
  constexpr char kSeparators[] = {',', ';', '\t', 'a'};
  CsvInput input;
  if (size < kOptionBytes) return input;
  input.options.sep = kSeparators[data[0] % 4];
  if ((data[0] & 4) != 0) input.options.quotechar = '\'';
  if ((data[0] & 8) != 0) input.options.quotechar = std::nullopt;
  if ((data[0] & 16) != 0) input.options.escapechar = '\\';
  if ((data[0] & 32) != 0) input.options.na_values = {"1", "x"};
  input.block_bytes = 1 + data[1];
  input.chunk_bytes = 1 + size_t{data[2]} * 3;
  input.text.assign(reinterpret_cast<const char*>(data) + kOptionBytes,
                    size - kOptionBytes);
  return input;
}

/// Abort if two ways to the same result differ.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "Expected " << what << "\n";
  std::abort();
}

}  // namespace xshards::io::fuzz
