// SPDX-License-Identifier: Apache-2.0
#include "ops/join/match_pairs.h"

#include <algorithm>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>

namespace xshards::ops {

std::shared_ptr<arrow::Array> ViewRows(const uint32_t* rows, size_t count,
                                       std::shared_ptr<arrow::Buffer> validity) {
  const auto bytes = static_cast<int64_t>(count * sizeof(uint32_t));
  return std::make_shared<arrow::UInt32Array>(
      static_cast<int64_t>(count),
      std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(rows), bytes),
      std::move(validity));
}

void JoinPairs::Start(size_t max_pairs) {
  size_ = 0;
  probe_.resize(max_pairs);
  held_.resize(max_pairs);
}

bool JoinPairs::is_slice() const {
  if (size_ == 0 || probe_[size_ - 1] - probe_[0] != size_ - 1) return false;
  const auto end = probe_.begin() + static_cast<std::ptrdiff_t>(size_);
  return std::adjacent_find(probe_.begin(), end) == end;
}

std::shared_ptr<arrow::Array> JoinPairs::ProbeRows() const {
  return ViewRows(probe_.data(), size_);
}

arrow::Result<std::shared_ptr<arrow::Array>> JoinPairs::HeldRowsOrNull() const {
  const uint32_t* const rows = held_.data();
  if (std::find(rows, rows + size_, HeldRows::kNoRow) == rows + size_) {
    return ViewRows(rows, size_);
  }
  const auto length = static_cast<int64_t>(size_);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity,
                        arrow::AllocateBitmap(length, pool_));
  for (int64_t i = 0; i < length; ++i) {
    arrow::bit_util::SetBitTo(validity->mutable_data(), i, rows[i] != HeldRows::kNoRow);
  }
  return ViewRows(rows, size_, std::move(validity));
}

}  // namespace xshards::ops
