// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/gather_rows.h"

#include <cstring>

namespace xshards::learn {

namespace {

// Rows are read in random order: prefetch them before they are needed.
constexpr size_t kRowsAhead = 16;

/// If the size is known at compile time, a row is a few moves instead of a call.
template <int64_t RowBytes>
void GatherFixed(const uint8_t* source, std::span<const uint32_t> rows, uint8_t* target) {
  const size_t count = rows.size();
  for (size_t i = 0; i < count; ++i) {
    if (i + kRowsAhead < count) {
      __builtin_prefetch(source + int64_t{rows[i + kRowsAhead]} * RowBytes);
    }
    std::memcpy(target, source + int64_t{rows[i]} * RowBytes, RowBytes);
    target += RowBytes;
  }
}

void GatherAny(const uint8_t* source, int64_t row_bytes, std::span<const uint32_t> rows,
               uint8_t* target) {
  for (const uint32_t row : rows) {
    std::memcpy(target, source + int64_t{row} * row_bytes,
                static_cast<size_t>(row_bytes));
    target += row_bytes;
  }
}

}  // namespace

void GatherRows(const uint8_t* source, int64_t row_bytes, std::span<const uint32_t> rows,
                uint8_t* target) {
  switch (row_bytes) {
    case 0:
      return;
    case 4:
      return GatherFixed<4>(source, rows, target);
    case 8:
      return GatherFixed<8>(source, rows, target);
    case 16:
      return GatherFixed<16>(source, rows, target);
    case 32:
      return GatherFixed<32>(source, rows, target);
    case 64:
      return GatherFixed<64>(source, rows, target);
    default:
      return GatherAny(source, row_bytes, rows, target);
  }
}

}  // namespace xshards::learn
