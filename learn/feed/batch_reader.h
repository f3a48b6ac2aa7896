// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "learn/feed/epoch_order.h"
#include "learn/feed/row_source.h"
#include "learn/feed/tensor_block.h"
#include "xshards/export.h"

namespace xshards::learn {

/// Reads runs of an epoch's rows, front to back, as tensors.
///
/// It holds one window at a time. Rows that are already contiguous in memory are not
/// copied. Used by one thread.
class XSHARDS_EXPORT BatchReader {
 public:
  BatchReader(RowSource* source, EpochOrder order, arrow::MemoryPool* pool);

  /// The rows at positions [begin, end) of the epoch.
  arrow::Result<TensorBlock> Read(int64_t begin, int64_t end);

 private:
  /// Some of the rows to read: `length` rows from `offset` on in the loaded window.
  struct Part {
    int64_t offset = 0;
    int64_t length = 0;
  };

  arrow::Status LoadWindow(int64_t window);
  /// Concatenate spans.
  arrow::Result<TensorBlock> ReadSpans(const std::vector<EpochOrder::Span>& spans);
  arrow::Result<TensorBlock> Allocate(int64_t num_rows) const;
  void CopyPart(Part part, int64_t target_row, const TensorBlock& target) const;

  RowSource* const source_;
  const EpochOrder order_;
  arrow::MemoryPool* const pool_;
  int64_t window_ = -1;
  TensorBlock rows_;                // of the window
  std::vector<uint32_t> shuffled_;  // the order to visit them in; empty: in stored order
};

}  // namespace xshards::learn
