// SPDX-License-Identifier: Apache-2.0
#include "io/options/split_size.h"

#include <algorithm>

namespace xshards::io {
namespace {

constexpr int64_t kMinBytes = 4LL << 20;
constexpr int64_t kMaxBytes = 64LL << 20;
// Many, so that the last splits leave no core idle for long, and the output of a Python
// function for one stays small: half a million rows at a time take 1.4 times as long as a
// quarter of a million.
constexpr int64_t kPiecesPerCore = 8;
constexpr int64_t kManyRows = 1000000;

}  // namespace

arrow::Status SplitSize::Validate() const {
  if (num_partitions < 0) {
    return arrow::Status::Invalid("num_partitions must be 0 (choose) or more, got ",
                                  num_partitions);
  }
  if (block_size < 0) {
    return arrow::Status::Invalid("block_size must be 0 (choose) or more bytes, got ",
                                  block_size);
  }
  return arrow::Status::OK();
}

int64_t SplitSize::TargetBytes(int64_t total_bytes, int cores,
                               std::optional<int64_t> num_rows) const {
  if (num_rows.value_or(kManyRows) < kManyRows) return std::max<int64_t>(total_bytes, 1);
  if (num_partitions > 0) {
    return std::max<int64_t>(1, (total_bytes + num_partitions - 1) / num_partitions);
  }
  if (block_size > 0) return block_size;
  return std::clamp(total_bytes / (kPiecesPerCore * std::max(cores, 1)), kMinBytes,
                    kMaxBytes);
}

int64_t NumPieces(int64_t num_bytes, int64_t target_bytes) {
  return std::max<int64_t>(
      1, (num_bytes + target_bytes - 1 - target_bytes / 4) / target_bytes);
}

std::vector<int64_t> EvenTargets(int64_t begin, int64_t end, int64_t target_bytes) {
  std::vector<int64_t> targets;
  const int64_t size = end - begin;
  const int64_t count = size > 0 ? NumPieces(size, target_bytes) : 0;
  targets.reserve(static_cast<size_t>(std::max<int64_t>(count, 0)));
  for (int64_t i = 1; i < count; ++i) {
    // Not size * i / count, which overflows for large files with many splits.
    const int64_t target = begin + size / count * i + std::min(size % count, i);
    targets.push_back(target);
  }
  return targets;
}

}  // namespace xshards::io
