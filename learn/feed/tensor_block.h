// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "learn/feed/tensor_type.h"
#include "xshards/export.h"
#include "xshards/storage/payload.h"

namespace xshards::learn {

/// Which columns become one tensor. One column gives [rows, ...shape of its cells];
/// several scalar columns are stacked to [rows, columns].
struct TensorSpec {
  std::vector<std::string> columns;
  /// The element type; by default the common type of all columns.
  std::optional<TensorType> type = {};
};

/// Element type and shape of one row of a tensor.
struct XSHARDS_EXPORT RowLayout {
  TensorType type = TensorType::kFloat32;
  std::vector<int64_t> shape;  // of one row; empty for a scalar

  int64_t num_elements() const;
  int64_t num_bytes() const { return num_elements() * ByteWidth(type); }
  bool operator==(const RowLayout&) const = default;
};

/// "float32[3, 2]"-like text for messages.
XSHARDS_EXPORT std::string ToString(const RowLayout& layout);

/// A tensor whose first dimension is rows. C-contiguous; copying shares the data.
struct Tensor {
  RowLayout row;
  std::shared_ptr<arrow::Buffer> data;
};

/// The same rows in one or more tensors.
struct XSHARDS_EXPORT TensorBlock {
  int64_t num_rows = 0;
  std::vector<Tensor> tensors;

  /// Rows [begin, begin + length), zero copy.
  TensorBlock Slice(int64_t begin, int64_t length) const;
};

/// Make tensors of a batch's columns, one for each spec. A single column of the right
/// type without missing values is not copied; others are cast and interleaved in one
/// pass. A missing value becomes NaN in a float tensor and is an error in an integer
/// tensor.
XSHARDS_EXPORT arrow::Result<TensorBlock> ToTensors(const std::vector<TensorSpec>& specs,
                                                    const arrow::RecordBatch& batch,
                                                    arrow::MemoryPool* pool);

/// The tensors of a Tensors payload, zero copy. Invalid if their first dimensions differ.
XSHARDS_EXPORT arrow::Result<TensorBlock> ToTensors(const Payload& payload);

}  // namespace xshards::learn
