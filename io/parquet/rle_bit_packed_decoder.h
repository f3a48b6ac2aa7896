// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::io {

/// Reads small numbers as Parquet packs them ("RLE / bit-packing hybrid"): runs of one
/// number, and groups of eight numbers of a few bits each. Never reads outside of the
/// data, even if they are damaged.
class PackedRuns {
 public:
  PackedRuns() = default;
  /// `width` is the number of bits, 0 to 32. The data must outlive this.
  PackedRuns(const uint8_t* data, int64_t num_bytes, int width);

  /// Read the next `count` numbers. Invalid if the data end before.
  arrow::Status Read(uint32_t* out, int64_t count);

  /// The bytes required after the last bit that ReadBits writes.
  static constexpr int64_t kBitmapPadding = 8;
  /// Read the next `count` numbers of one bit each as bits of a bitmap, from bit `offset`
  /// on, where it has only zeros; returns the number of ones.
  arrow::Result<int64_t> ReadBits(uint8_t* bitmap, int64_t offset, int64_t count);

 private:
  arrow::Status NextRun();

  const uint8_t* data_ = nullptr;  // of the next run
  const uint8_t* end_ = nullptr;
  int width_ = 0;
  int64_t num_left_ = 0;  // of the current run
  bool is_packed_ = false;
  uint32_t value_ = 0;               // of a run of one number
  const uint8_t* packed_ = nullptr;  // the current run's groups
  int64_t position_ = 0;             // the next number in them
};

}  // namespace xshards::io
