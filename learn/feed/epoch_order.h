// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "xshards/export.h"

namespace xshards::learn {

struct ShuffleOptions {
  bool shuffle = false;
  uint64_t seed = 0;
  /// Rows are shuffled within windows of this many consecutive rows of the shuffled
  /// pieces.
  int64_t window_rows = 1 << 20;
};

/// The order in which an epoch visits the rows of pieces (blocks of partitions).
/// Shuffled: pieces in a random order, cut into windows, rows in a random order within
/// each window. Otherwise: in stored order, each piece a window.
///
/// The order depends on seed, epoch and the pieces' sizes only: not on the number of
/// replicas, so they all agree on it without communication; and any window can be found
/// without the previous ones, so an epoch can be resumed in the middle.
class XSHARDS_EXPORT EpochOrder {
 public:
  EpochOrder(std::vector<int64_t> piece_rows, ShuffleOptions options, int64_t epoch);

  /// Rows [begin, begin + length) of a piece.
  struct Span {
    int64_t piece = 0;
    int64_t begin = 0;
    int64_t length = 0;
  };

  int64_t num_rows() const { return starts_.back(); }
  int64_t num_windows() const;
  /// The position in the epoch of a window's first row.
  int64_t WindowStart(int64_t window) const;
  int64_t WindowAt(int64_t position) const;
  /// The spans that make up a window, in the order in which they are concatenated.
  std::vector<Span> WindowSpans(int64_t window) const;
  /// The i-th row to visit of a window is row WindowRows()[i] of its concatenated spans.
  /// Empty if it is row i.
  std::vector<uint32_t> WindowRows(int64_t window) const;

 private:
  const ShuffleOptions options_;
  const int64_t epoch_;
  std::vector<int64_t> pieces_;  // in the order of the epoch
  std::vector<int64_t> starts_;  // position of each piece's first row, and the end
};

}  // namespace xshards::learn
