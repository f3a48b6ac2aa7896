// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace xshards::ops {

/// Radix partitioning: the positions of rows sorted by the part of a table they belong
/// to, chunk by chunk. A chunk's rows keep its range among all rows, so chunks are sorted
/// in parallel.
class RowsByPart {
 public:
  /// Rows of a chunk: its sorted output fits a core's cache.
  static constexpr size_t kRowsInChunk = size_t{1} << 16;

  /// The base-2 logarithm of the number of parts, for `num_entries` entries and at most
  /// about `in_part` per part. Either few parts or many: with 64, the next row of a part
  /// waits for the store of the previous one, and sorting takes 1.5 times as long as with
  /// 16 or 256 (benchmarks/README.md).
  static int PartBits(size_t num_entries, size_t in_part) {
    return num_entries <= in_part << kFewBits ? kFewBits : kManyBits;
  }

  void Start(size_t num_chunks, size_t num_parts) {
    num_parts_ = num_parts;
    begins_.resize(num_chunks);
    ends_.resize(num_chunks * num_parts);
  }

  /// Call `put(row, place)` for rows 0 to `num_rows` of a chunk whose positions start at
  /// `begin`. `part_of(row)` is less than the number of parts.
  template <typename PartOf, typename Put>
  void SortChunk(size_t chunk, uint32_t begin, size_t num_rows, PartOf&& part_of,
                 Put&& put) {
    // First the number of rows of each part, then the position of its next row.
    std::array<uint32_t, kMaxParts> next{};
    for (size_t row = 0; row < num_rows; ++row) ++next[part_of(row)];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), begin);
    for (size_t row = 0; row < num_rows; ++row) put(row, next[part_of(row)]++);
    begins_[chunk] = begin;
    std::copy_n(next.begin(), num_parts_, ends_.data() + chunk * num_parts_);
  }

  /// The positions of a chunk's rows that belong to a part.
  std::pair<uint32_t, uint32_t> Places(size_t chunk, size_t part) const {
    const size_t at = chunk * num_parts_ + part;
    return {part == 0 ? begins_[chunk] : ends_[at - 1], ends_[at]};
  }

 private:
  static constexpr int kFewBits = 4;
  static constexpr int kManyBits = 8;
  // One more for rows that belong to no part.
  static constexpr size_t kMaxParts = (size_t{1} << kManyBits) + 1;

  size_t num_parts_ = 0;
  std::vector<uint32_t> begins_;
  std::vector<uint32_t> ends_;  // of the parts of each chunk
};

}  // namespace xshards::ops
