// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/rle_bit_packed_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <arrow/util/bit_util.h>

#include "io/parquet/bit_unpack.h"

namespace xshards::io {
namespace {

/// Write bits into a bitmap of zeros, which has eight bytes after its last bit; returns
/// the number of ones. Runs are short, so a general copy would take several times as
/// long.
int64_t CopyBits(const uint8_t* data, const uint8_t* end, int64_t position, int64_t count,
                 uint8_t* bitmap, int64_t offset) {
  // With up to seven bits before them in their first byte, these fit into a word.
  constexpr int64_t kMostBits = 56;
  int64_t num_ones = 0;
  while (count > 0) {
    const int64_t taken = std::min(count, kMostBits);
    const uint8_t* const from = data + position / 8;
    uint64_t bits = 0;
    if (end - from >= 8) {
      std::memcpy(&bits, from, sizeof(bits));
    } else {
      std::memcpy(&bits, from, static_cast<size_t>(end - from));
    }
    bits = bits >> (position % 8) & ((uint64_t{1} << taken) - 1);
    num_ones += std::popcount(bits);
    uint64_t word;
    std::memcpy(&word, bitmap + offset / 8, sizeof(word));
    word |= bits << (offset % 8);
    std::memcpy(bitmap + offset / 8, &word, sizeof(word));
    position += taken;
    offset += taken;
    count -= taken;
  }
  return num_ones;
}

}  // namespace

PackedRuns::PackedRuns(const uint8_t* data, int64_t num_bytes, int width)
    : data_(data), end_(data + num_bytes), width_(width) {}

arrow::Status PackedRuns::NextRun() {
  uint64_t header = 0;
  for (int shift = 0;; shift += 7) {
    if (data_ == end_ || shift > 28) {
      return arrow::Status::Invalid("Bit-packed run exceeds the page");
    }
    const uint8_t byte = *data_++;
    header |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  const auto length = static_cast<int64_t>(header >> 1);
  is_packed_ = (header & 1) != 0;
  if (is_packed_) {
    packed_ = data_;
    position_ = 0;
    // Some writers leave out the end of the last group.
    const int64_t num_bytes = std::min<int64_t>(length * width_, end_ - data_);
    num_left_ = width_ == 0 ? length * 8 : std::min(length * 8, num_bytes * 8 / width_);
    data_ += num_bytes;
  } else {
    const int64_t num_bytes = (width_ + 7) / 8;
    if (end_ - data_ < num_bytes) {
      return arrow::Status::Invalid("Bit-packed run exceeds the page");
    }
    value_ = 0;
    std::memcpy(&value_, data_, static_cast<size_t>(num_bytes));
    num_left_ = length;
    data_ += num_bytes;
  }
  return arrow::Status::OK();
}

arrow::Status PackedRuns::Read(uint32_t* out, int64_t count) {
  while (count > 0) {
    if (num_left_ == 0) {
      ARROW_RETURN_NOT_OK(NextRun());
      continue;
    }
    const int64_t taken = std::min(count, num_left_);
    if (!is_packed_) {
      std::fill_n(out, taken, value_);
    } else if (width_ == 0) {
      std::fill_n(out, taken, 0);
    } else {
      UnpackBits(packed_, end_, position_ * width_, width_, out, taken);
      position_ += taken;
    }
    out += taken;
    count -= taken;
    num_left_ -= taken;
  }
  return arrow::Status::OK();
}

arrow::Result<int64_t> PackedRuns::ReadBits(uint8_t* bitmap, int64_t offset,
                                            int64_t count) {
  int64_t num_ones = 0;
  while (count > 0) {
    if (num_left_ == 0) {
      ARROW_RETURN_NOT_OK(NextRun());
      continue;
    }
    const int64_t taken = std::min(count, num_left_);
    if (is_packed_) {
      num_ones += CopyBits(packed_, end_, position_, taken, bitmap, offset);
      position_ += taken;
    } else if (value_ != 0) {
      arrow::bit_util::SetBitsTo(bitmap, offset, taken, true);
      num_ones += taken;
    }
    offset += taken;
    count -= taken;
    num_left_ -= taken;
  }
  return num_ones;
}

}  // namespace xshards::io
