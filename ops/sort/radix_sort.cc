// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/radix_sort.h"

#include <algorithm>
#include <array>
#include <utility>

namespace xshards::ops {

namespace {

constexpr int kDigitBits = 8;
constexpr size_t kNumDigits = size_t{1} << kDigitBits;
// Below this, comparing is faster than counting digits.
constexpr size_t kFewRows = 512;

bool IsLess(const WordRow& a, const WordRow& b) { return a.word < b.word; }

size_t DigitOf(const WordRow& row, int shift) {
  return (row.word >> shift) & (kNumDigits - 1);
}

}  // namespace

void RadixSort(std::vector<WordRow>& rows, int num_bits) {
  if (std::is_sorted(rows.begin(), rows.end(), IsLess)) return;
  if (rows.size() < kFewRows) {
    std::stable_sort(rows.begin(), rows.end(), IsLess);
    return;
  }
  std::vector<WordRow> target(rows.size());
  for (int shift = 0; shift < num_bits; shift += kDigitBits) {
    std::array<size_t, kNumDigits> next{};
    for (const WordRow& row : rows) ++next[DigitOf(row, shift)];
    if (next[DigitOf(rows[0], shift)] == rows.size()) continue;
    size_t begin = 0;
    for (size_t& count : next) begin += std::exchange(count, begin);
    for (const WordRow& row : rows) target[next[DigitOf(row, shift)]++] = row;
    rows.swap(target);
  }
}

}  // namespace xshards::ops
