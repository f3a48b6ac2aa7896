// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/join/build_rows.h"
#include "ops/join/join_keys.h"
#include "ops/join/match_pairs.h"
#include "ops/join/radix_partition.h"
#include "ops/kernels/prefetch.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// Build rows in the order of their keys, for dense integer keys. If no key repeats, a
/// row's position is its key, so that nothing has to be looked up and a probe row needs
/// one memory access per column. If some repeat, a table has the first position of each
/// key, and the rows of a key are contiguous.
///
/// Positions without a row have arbitrary values. Values are moved twice, each time
/// within the cache: to the part of the range that contains their key, and from there to
/// their position.
class OrderedRows final : public HeldRows {
 public:
  /// `taken` are the columns that rows() has; others become columns of nulls, so that
  /// column positions stay. Returns nullptr for columns that cannot be moved this way:
  /// only plain numbers can.
  static std::shared_ptr<OrderedRows> Make(arrow::RecordBatchVector batches, int key,
                                           const std::vector<int>& taken,
                                           arrow::MemoryPool* pool);

  arrow::Result<size_t> StartStep() override;
  arrow::Status RunTask(size_t task) override;
  /// False, after the last step, if keys are missing or not dense.
  bool is_made() const { return rows_ != nullptr; }

  void Find(const JoinKeys& keys, ScratchVector<uint32_t>* first) const override;
  uint32_t Next(uint32_t row) const override {
    const bool is_last = last_.empty() || (last_[row / 64] >> row % 64 & 1) != 0;
    return is_last ? kNoRow : row + 1;
  }
  void ReadAheadOf(uint32_t row) const {
    if (!last_.empty()) ReadAhead(&last_[row / 64]);
  }
  void ListPairs(const ScratchVector<uint32_t>& first, bool with_lonely, PairCursor* at,
                 JoinPairs* pairs) const override {
    ListPairsOf(*this, first, with_lonely, at, pairs);
  }
  bool has_repeats() const override { return has_repeats_; }

 private:
  enum class Step : uint8_t { kNone, kMeasure, kSort, kPlace, kPlaceRepeats, kDone };
  /// Rows of a batch that are sorted at once.
  struct Chunk {
    size_t batch = 0;
    size_t begin = 0;  // in the batch
    size_t end = 0;
    size_t first = 0;  // in all rows
  };
  struct Column {
    int index = 0;
    int byte_width = 0;
    bool any_missing = false;
    ScratchVector<uint8_t> sorted{};        // by parts, chunk by chunk
    ScratchVector<uint8_t> sorted_there{};  // validity, if some are missing
    std::shared_ptr<arrow::Buffer> placed{};
    std::shared_ptr<arrow::Buffer> placed_there{};  // bits
  };

  OrderedRows(arrow::RecordBatchVector batches, int key, arrow::MemoryPool* pool);

  arrow::Status MeasureBatch(size_t batch);
  /// False if keys are not dense.
  bool ChooseParts();
  arrow::Status StartSort();
  arrow::Status StartPlace(size_t num_places);
  /// Assign each part positions for all of its rows.
  arrow::Status StartPlaceRepeats();
  void SortChunk(const Chunk& chunk, size_t number);
  /// Move the values of a chunk's rows to their sorted positions `to` in the chunk.
  void SortColumn(const Chunk& chunk, const ScratchVector<uint32_t>& to,
                  ScratchVector<uint8_t>& stage, Column& column);
  void PlacePart(size_t part);
  /// Mark the keys of a part that are present; false if one repeats.
  bool TakeNumbers(size_t part, ScratchVector<uint8_t>& stage);
  /// Replace the keys of a part's rows by their positions.
  void ChoosePlaces(size_t part);
  std::pair<size_t, size_t> NumbersOf(size_t part) const;
  std::pair<size_t, size_t> PlacesOf(size_t part) const;
  void PlaceColumn(size_t part, ScratchVector<uint8_t>& stage, const Column& column);
  arrow::Status Finish();
  void FindPlaces(const JoinKeys& keys, uint32_t* found) const;
  void FindFirsts(const JoinKeys& keys, uint32_t* found) const;

  arrow::RecordBatchVector batches_;
  const int key_;
  arrow::MemoryPool* const pool_;
  size_t num_rows_ = 0;
  std::vector<std::optional<JoinKeys>> keys_;  // of each batch
  std::vector<NumberRange> ranges_;
  std::vector<Chunk> chunks_;
  std::vector<Column> columns_;
  uint64_t least_ = 0;
  size_t num_numbers_ = 0;  // from `least_` to the greatest
  size_t num_places_ = 0;
  size_t num_parts_ = 0;
  int shift_ = 0;  // bits of a key below its part
  bool past_caches_ =
      false;  // values are combined in cache and written with non-temporal stores
  RowsByPart sorted_;
  // Of the sorted rows: the key minus `least_`, which is the position if no key repeats;
  // else it is replaced by the position.
  ScratchVector<uint32_t> places_;
  ScratchVector<uint64_t> taken_;  // a bit for each key; empty if all are present
  std::vector<uint32_t> part_begins_;
  ScratchVector<uint32_t> firsts_;  // of each key, if some repeat
  ScratchVector<uint64_t>
      last_;  // a bit for the last position of each key, if some repeat
  std::atomic<bool> is_unfit_ = false;
  std::atomic<bool> has_repeats_ = false;
  Step step_ = Step::kNone;
};

}  // namespace xshards::ops
