// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/storage/block_store.h"
#include "xshards/storage/partition.h"

namespace xshards::ops {

/// The probe side of a join. It streams once, or once for each part of a build side that
/// does not fit in memory. Then the rows are kept, may be spilled, and can be marked as
/// matched.
class ProbeRows {
 public:
  ProbeRows(Input& input, const OperatorContext& context)
      : input_(input),
        context_(context),
        pieces_(context.batch_bytes / 2, context.pool) {}

  /// Read the first batch if the schema is not known otherwise.
  arrow::Status LearnSchema();
  /// Called before the first Next(): rows will be read again.
  void KeepRows();
  bool keeps_rows() const { return keeps_rows_; }
  /// The next batch that has rows, or nullptr at the end. Small batches, as from an
  /// exchange in little memory, are concatenated; large ones are sliced, so that the
  /// matches of their rows are still in cache when they are used.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();
  /// Begin from the first row again; only at the end, and if rows are kept.
  arrow::Status StartAgain();

  /// Mark a row of the last batch; marks are kept from pass to pass.
  void Mark(size_t row) { marks_[first_row_ + row] = true; }
  bool is_marked(size_t row) const { return marks_[first_row_ + row]; }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadPiece();
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextSlice();

  Input& input_;
  const OperatorContext& context_;
  BatchCoalescer pieces_;
  BatchSlicer slices_;  // of the last of them
  std::shared_ptr<arrow::RecordBatch> first_batch_;
  bool keeps_rows_ = false;
  std::optional<BlockWriter> writer_;    // in the first pass
  Partition kept_;                       // from the second on
  std::unique_ptr<BatchStream> stream_;  // over kept_
  std::vector<bool> marks_;
  size_t first_row_ = 0;  // of the last batch
  size_t next_row_ = 0;
};

}  // namespace xshards::ops
