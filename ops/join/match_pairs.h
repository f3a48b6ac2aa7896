// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "ops/join/build_rows.h"
#include "ops/kernels/prefetch.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// Pairs of a probe row and its matching build row, in output order.
class JoinPairs {
 public:
  explicit JoinPairs(arrow::MemoryPool* pool)
      : pool_(pool),
        probe_(ScratchAllocator<uint32_t>(pool)),
        held_(ScratchAllocator<uint32_t>(pool)) {}

  /// Drop all pairs, and reserve room for `max_pairs`.
  void Start(size_t max_pairs);
  bool is_full() const { return size_ == probe_.size(); }
  size_t size() const { return size_; }

  /// There must be room. `held` may be HeldRows::kNoRow. Kept only if `is_pair`, which
  /// spares loops an unpredictable branch.
  void Add(size_t probe, uint32_t held, bool is_pair = true) {
    probe_[size_] = static_cast<uint32_t>(probe);
    held_[size_] = held;
    size_ += static_cast<size_t>(is_pair);
  }

  uint32_t probe(size_t pair) const { return probe_[pair]; }
  uint32_t held(size_t pair) const { return held_[pair]; }
  /// True if the rows of the probe side are consecutive, so that they need no copy.
  bool is_slice() const;

  /// The row numbers of a side, null where there is no row. They are views of this
  /// object's memory, valid until it changes.
  std::shared_ptr<arrow::Array> ProbeRows() const;
  arrow::Result<std::shared_ptr<arrow::Array>> HeldRowsOrNull() const;

 private:
  arrow::MemoryPool* const pool_;
  ScratchVector<uint32_t> probe_;  // its length is the capacity
  ScratchVector<uint32_t> held_;
  size_t size_ = 0;
};

/// HeldRows::ListPairs for a concrete class, whose Next() can then be inlined;
/// ReadAheadOf() prefetches what Next() will read.
template <typename Held>
void ListPairsOf(const Held& held, const ScratchVector<uint32_t>& first, bool with_lonely,
                 HeldRows::PairCursor* at, JoinPairs* pairs) {
  for (; at->row < first.size(); ++at->row) {
    const uint32_t ahead = first[std::min(at->row + kRowsAhead, first.size() - 1)];
    if (ahead != HeldRows::kNoRow) held.ReadAheadOf(ahead);
    uint32_t match = at->match == HeldRows::kNoRow ? first[at->row] : at->match;
    at->match = HeldRows::kNoRow;
    if (match == HeldRows::kNoRow && !with_lonely) continue;
    do {
      if (pairs->is_full()) {
        at->match = match;
        return;
      }
      pairs->Add(at->row, match);
      if (match != HeldRows::kNoRow) match = held.Next(match);
    } while (match != HeldRows::kNoRow);
  }
}

/// A view of row numbers.
std::shared_ptr<arrow::Array> ViewRows(const uint32_t* rows, size_t count,
                                       std::shared_ptr<arrow::Buffer> validity = nullptr);

}  // namespace xshards::ops
