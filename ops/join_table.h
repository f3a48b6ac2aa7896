// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/join_keys.h"
#include "ops/scratch_vector.h"

namespace xshards::ops {

/// The rows of the side of a join that is held, found by key. Made in parts that threads
/// can share; once all parts are made it never changes.
class JoinTable {
 public:
  static constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

  /// CapacityError past 2^32 - 1 rows.
  static arrow::Result<std::shared_ptr<JoinTable>> Make(
      std::shared_ptr<arrow::RecordBatch> rows, const std::vector<int>& keys,
      JoinKeyKind kind, arrow::MemoryPool* pool);

  /// Each part must be filled once, before rows are looked for; on any thread.
  size_t num_parts() const { return num_parts_; }
  void Fill(size_t part);

  const std::shared_ptr<arrow::RecordBatch>& rows() const { return rows_; }

  /// The first row that each row of the other side matches, or kNoRow.
  void Find(const JoinKeys& keys, std::vector<uint32_t>* first) const;
  /// The row that matches after this one, or kNoRow; in ascending order.
  uint32_t Next(uint32_t row) const {
    if (kind_ == JoinKeyKind::kNone) return row + 1 < num_rows_ ? row + 1 : kNoRow;
    return next_[row];
  }

  /// True if a row may match more than one.
  bool has_repeats() const;

  JoinKeyKind kind() const { return kind_; }
  /// Memory it holds outside the pool.
  int64_t num_bytes() const;

 private:
  static constexpr int kPartBits = 3;
  static constexpr size_t kMaxParts = size_t{1} << kPartBits;

  /// A key: its word, and its first and last row.
  struct Slot {
    uint64_t word = 0;
    uint32_t first = kNoRow;
    uint32_t last = kNoRow;
  };
  /// Open addressing; a power of two, at most half full.
  struct Part {
    ScratchVector<Slot> slots = ScratchVector<Slot>(1, Slot{});
    uint64_t mask = 0;
    bool has_repeats = false;
  };

  JoinTable(std::shared_ptr<arrow::RecordBatch> rows, JoinKeys keys, JoinKeyKind kind,
            arrow::MemoryPool* pool);
  size_t PartOf(uint64_t hash) const {
    return num_parts_ == 1 ? 0 : hash >> (64 - kPartBits);
  }
  /// See whether the words are numbers that lie close together.
  void ChooseDense();
  void FillMissing();
  void FillDense(size_t number);
  void FindDense(const JoinKeys& keys, std::vector<uint32_t>* first) const;
  bool AreEqual(const JoinKeys& keys, size_t row, uint32_t own) const {
    return !keys.has_bytes() || keys.bytes(row) == keys_.bytes(own);
  }

  const std::shared_ptr<arrow::RecordBatch> rows_;
  const JoinKeys keys_;
  const JoinKeyKind kind_;
  const uint32_t num_rows_;
  const size_t num_parts_;
  std::array<Part, kMaxParts> parts_;
  ScratchVector<uint32_t> next_;  // row of the same key
  uint32_t first_missing_ = kNoRow;
  bool repeats_missing_ = false;
  // The first row of each number from `least_` on, in place of slots; empty if the
  // numbers do not lie close together.
  ScratchVector<uint32_t> dense_;
  uint64_t least_ = 0;
};

}  // namespace xshards::ops
