// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/join/build_rows.h"
#include "ops/join/join_keys.h"
#include "ops/join/match_pairs.h"
#include "ops/join/radix_partition.h"
#include "ops/kernels/prefetch.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// Build rows that a hash table finds by key, for keys of any kind.
///
/// Rows are partitioned into parts, by value if keys are dense integers, else by hash:
/// the table of a part is filled while it is in cache.
class JoinTable final : public HeldRows {
 public:
  /// CapacityError past 2^32 - 1 rows.
  static arrow::Result<std::shared_ptr<JoinTable>> Make(
      std::shared_ptr<arrow::RecordBatch> rows, const std::vector<int>& keys,
      JoinKeyKind kind, arrow::MemoryPool* pool);

  arrow::Result<size_t> StartStep() override;
  arrow::Status RunTask(size_t task) override;

  size_t num_parts() const { return parts_.size(); }

  void Find(const JoinKeys& keys, ScratchVector<uint32_t>* first) const override;
  uint32_t Next(uint32_t row) const override {
    if (kind_ == JoinKeyKind::kNone) return row + 1 < num_rows_ ? row + 1 : kNoRow;
    return next_.empty() ? kNoRow : next_[row];
  }
  void ReadAheadOf(uint32_t row) const {
    if (!next_.empty()) ReadAhead(&next_[row]);
  }
  void ListPairs(const ScratchVector<uint32_t>& first, bool with_lonely, PairCursor* at,
                 JoinPairs* pairs) const override {
    ListPairsOf(*this, first, with_lonely, at, pairs);
  }
  bool has_repeats() const override;

 private:
  enum class Step : uint8_t { kNone, kMeasure, kSort, kFill, kDone };
  /// A key: its word, and its first and last row.
  struct Slot {
    uint64_t word = 0;
    uint32_t first = kNoRow;
    uint32_t last = kNoRow;
  };
  /// Open addressing; a power of two, at most half full.
  struct Part {
    ScratchVector<Slot> slots;
    uint64_t mask = 0;
    bool has_repeats = false;
  };

  JoinTable(std::shared_ptr<arrow::RecordBatch> rows, JoinKeys keys, JoinKeyKind kind,
            arrow::MemoryPool* pool);
  std::pair<uint32_t, uint32_t> RowsOfChunk(size_t chunk) const;
  /// Check whether the words are dense integers.
  void ChooseDense();
  void ChooseParts();
  void SortChunk(size_t chunk);
  template <typename PartOf, typename Put>
  void SortRows(size_t chunk, PartOf&& part_of, Put&& put);
  void FillMissing();
  void FillSlots(size_t number);
  void FillDense(size_t number);
  /// Allocate the links between rows of one key; called before the first is set.
  void ExpectRepeats();
  void FindDense(const JoinKeys& keys, ScratchVector<uint32_t>* first) const;
  size_t PartOfHash(uint64_t hash) const { return hash >> 32 >> shift_; }
  bool AreEqual(const JoinKeys& keys, size_t row, uint32_t own) const {
    return !keys.has_bytes() || keys.bytes(row) == keys_.bytes(own);
  }

  const JoinKeys keys_;
  const JoinKeyKind kind_;
  const uint32_t num_rows_;
  const size_t num_chunks_;
  arrow::MemoryPool* const pool_;
  std::vector<Part> parts_;
  int shift_ = 0;  // bits of a key, or of the upper half of a hash, below its part
  std::once_flag expects_repeats_;
  ScratchVector<uint32_t> next_;  // next row of the same key; empty if no key repeats
  uint32_t first_missing_ = kNoRow;
  bool repeats_missing_ = false;
  // The first row of each key from `least_` on, instead of slots; empty if keys are not
  // dense integers.
  ScratchVector<uint32_t> dense_;
  uint64_t least_ = 0;

  // Used while the table is built.
  Step step_ = Step::kNone;
  std::vector<NumberRange> ranges_;  // of the chunks
  ScratchVector<uint64_t>
      sorted_words_;  // of a dense table, with the row in the lower half
  ScratchVector<uint32_t> sorted_rows_;  // of slots
  RowsByPart sorted_;
};

}  // namespace xshards::ops
