// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace xshards::ops {

/// A row and the word it is sorted by.
struct WordRow {
  uint64_t word;
  uint64_t row;
};

/// Sort by word, stable; only the lowest `num_bits` bits of words are in use. Rows that
/// are already in order are not moved.
void RadixSort(std::vector<WordRow>& rows, int num_bits);

}  // namespace xshards::ops
