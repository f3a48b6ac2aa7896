// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/join/join_keys.h"

namespace xshards::ops {

class JoinPairs;

/// The rows of the build side of a join, found by key. Built in steps of tasks that
/// threads can share; immutable once built.
class HeldRows {
 public:
  static constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

  /// The position of ListPairs in a batch: a row, and its next match if some of its
  /// matches are already listed.
  struct PairCursor {
    size_t row = 0;
    uint32_t match = kNoRow;
  };

  virtual ~HeldRows() = default;

  /// Begin the next step, once all tasks of the previous one are done. Returns the number
  /// of its tasks, which can run concurrently; 0 after the last step.
  virtual arrow::Result<size_t> StartStep() = 0;
  virtual arrow::Status RunTask(size_t task) = 0;

  const std::shared_ptr<arrow::RecordBatch>& rows() const { return rows_; }
  /// The first match of each probe row, or kNoRow.
  virtual void Find(const JoinKeys& keys, ScratchVector<uint32_t>* first) const = 0;
  /// The next match after this row, or kNoRow; in ascending order.
  virtual uint32_t Next(uint32_t row) const = 0;
  /// List probe rows from `at` on, each with all its matches, until `pairs` is full or
  /// the rows end. `first` is the output of Find. Rows without a match are listed if
  /// `with_lonely`.
  virtual void ListPairs(const ScratchVector<uint32_t>& first, bool with_lonely,
                         PairCursor* at, JoinPairs* pairs) const = 0;
  /// True if a row may match more than one.
  virtual bool has_repeats() const = 0;

 protected:
  explicit HeldRows(std::shared_ptr<arrow::RecordBatch> rows = nullptr)
      : rows_(std::move(rows)) {}

  std::shared_ptr<arrow::RecordBatch> rows_;
};

/// The minimum and maximum of integer keys.
struct NumberRange {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t greatest = std::numeric_limits<int64_t>::min();

  bool is_empty() const { return least > greatest; }
  /// Maximum minus minimum.
  uint64_t width() const {
    return static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  }
  void Include(const NumberRange& other);
  /// Missing keys are ignored.
  void Include(const JoinKeys& keys, size_t begin, size_t end);
};

}  // namespace xshards::ops
