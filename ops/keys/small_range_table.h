// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace xshards::ops {

/// The numbers that a ValueTable assigned to integers of a small range and to the missing
/// value: they are looked up by position, without hashing or comparing.
class IntegerMemo {
 public:
  static constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();

  /// Allocate positions for the integers of an array, if their range is small. Tried only
  /// once: if it is not small, nothing is allocated.
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
    return offset < range_ ? offset : range_ + 1;  // out of range: never known
  }
  size_t PlaceOfMissing() const { return range_; }

  uint32_t operator[](size_t place) const { return ids_[place]; }
  void Note(size_t place, uint32_t id) {
    if (place <= range_) ids_[place] = id;
  }

  /// Record how many rows were found by position. The positions are dropped if they are
  /// found for hardly any rows.
  void Count(size_t known, size_t unknown) {
    credit_ += static_cast<int64_t>(known) - static_cast<int64_t>(unknown);
    if (credit_ < -kMostUnknown) std::vector<uint32_t>().swap(ids_);
  }

  int64_t num_bytes() const {
    return static_cast<int64_t>(ids_.capacity() * sizeof(uint32_t));
  }

 private:
  // For fewer rows, finding their range does not pay.
  static constexpr int64_t kFewestRows = 2048;
  // Their numbers fit a core's second-level cache.
  static constexpr uint64_t kLargestRange = 1 << 16;
  // Each value of the range is unknown once.
  static constexpr int64_t kMostUnknown = 4 * kLargestRange;

  bool is_chosen_ = false;
  uint64_t least_ = 0;
  size_t range_ = 0;
  std::vector<uint32_t>
      ids_;  // by position; at the end, of missing and of out-of-range values
  int64_t credit_ = 0;
};

}  // namespace xshards::ops
