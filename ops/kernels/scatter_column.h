// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/result.h>

namespace xshards::ops {

/// Moves the rows of one column, given as chunks, to other positions of a new array.
/// Values of fixed width, bits and bytes are copied from buffer to buffer; dictionaries
/// stay and their indices move; nested columns are copied row by row.
class ColumnScatter {
 public:
  /// At least one chunk; all of one type.
  explicit ColumnScatter(arrow::ArrayDataVector pieces);

  /// The memory that Run writes to, a multiple of 64.
  int64_t num_bytes() const { return validity_bytes_ + values_bytes_ + data_bytes_; }

  /// Move row i, counted over all chunks, to row `positions[i]`; `positions` is a
  /// permutation. The array is written to `memory` from byte `begin` on, which has room
  /// for num_bytes(); nested columns allocate from the pool.
  arrow::Result<std::shared_ptr<arrow::Array>> Run(
      std::span<const uint32_t> positions, const std::shared_ptr<arrow::Buffer>& memory,
      int64_t begin, arrow::MemoryPool* pool) const;

 private:
  enum class Shape : uint8_t { kNull, kBits, kFixed, kBytes32, kBytes64, kNested };

  Shape FindShape();
  void MoveValidity(std::span<const uint32_t> positions, uint8_t* to) const;
  void MoveBits(std::span<const uint32_t> positions, uint8_t* to) const;
  void MoveFixed(std::span<const uint32_t> positions, uint8_t* to) const;
  template <typename Word>
  void MoveWords(std::span<const uint32_t> positions, uint8_t* to) const;
  template <typename Offset>
  void MoveBytes(std::span<const uint32_t> positions, uint8_t* offsets,
                 uint8_t* data) const;
  template <typename Offset>
  int64_t CountBytes() const;
  arrow::Result<std::shared_ptr<arrow::Array>> TakeRows(
      std::span<const uint32_t> positions, arrow::MemoryPool* pool) const;

  const arrow::ArrayDataVector pieces_;
  int64_t num_rows_ = 0;
  int64_t null_count_ = 0;
  int byte_width_ = 0;
  Shape shape_;
  int64_t validity_bytes_ = 0;
  int64_t values_bytes_ = 0;  // or those of the offsets
  int64_t data_bytes_ = 0;
};

}  // namespace xshards::ops
