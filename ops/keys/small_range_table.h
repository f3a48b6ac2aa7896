// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace xshards::ops {

/// The numbers that a ValueTable gave to integers of a small range and to the missing
/// value: where a value's place says it all, nothing is hashed or compared.
class IntegerMemo {
 public:
  static constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();

  /// Have places for the integers of an array, if they are close together. Only once:
  /// where they are not, there are no places.
  template <typename ArrayType>
  void Choose(const ArrayType& values) {
    if (is_chosen_ || values.length() < kFewestRows) return;
    is_chosen_ = true;
    int64_t least = std::numeric_limits<int64_t>::max();
    int64_t most = std::numeric_limits<int64_t>::min();
    for (int64_t i = 0; i < values.length(); ++i) {
      if (values.IsNull(i)) continue;
      least = std::min(least, static_cast<int64_t>(values.Value(i)));
      most = std::max(most, static_cast<int64_t>(values.Value(i)));
    }
    const uint64_t span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    if (least > most || span >= kLargestRange) return;
    least_ = static_cast<uint64_t>(least);
    range_ = span + 1;
    ids_.assign(range_ + 2, kUnknown);
  }

  bool has_places() const { return !ids_.empty(); }
  size_t PlaceOf(int64_t value) const {
    const uint64_t offset = static_cast<uint64_t>(value) - least_;
    return offset < range_ ? offset : range_ + 1;  // beyond: never known
  }
  size_t PlaceOfMissing() const { return range_; }

  uint32_t operator[](size_t place) const { return ids_[place]; }
  void Note(size_t place, uint32_t id) {
    if (place <= range_) ids_[place] = id;
  }

  /// Take note of how many of some rows had a place where their number was known. Places
  /// that hardly any of the rows have are given up.
  void Count(size_t known, size_t unknown) {
    credit_ += static_cast<int64_t>(known) - static_cast<int64_t>(unknown);
    if (credit_ < -kMostUnknown) std::vector<uint32_t>().swap(ids_);
  }

  int64_t num_bytes() const {
    return static_cast<int64_t>(ids_.capacity() * sizeof(uint32_t));
  }

 private:
  // Fewer rows are not worth looking for their range.
  static constexpr int64_t kFewestRows = 2048;
  // Their numbers fit a core's second cache.
  static constexpr uint64_t kLargestRange = 1 << 16;
  // Each value of the range is unknown once.
  static constexpr int64_t kMostUnknown = 4 * kLargestRange;

  bool is_chosen_ = false;
  uint64_t least_ = 0;
  size_t range_ = 0;
  std::vector<uint32_t> ids_;  // by place; last, of missing and of what has no place
  int64_t credit_ = 0;
};

}  // namespace xshards::ops
