// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::io {

/// The target size of splits. Every format's options have one.
struct SplitSize {
  int num_partitions = 0;  // approximate total; a file is at least one
  int64_t block_size = 0;  // bytes of a split, if num_partitions is not given

  arrow::Status Validate() const;

  /// Bytes of a split: as requested, or eight splits per core, within 4 to 64 MB.
  /// Everything if fewer than a million rows are requested: cutting a text may require
  /// reading it completely.
  int64_t TargetBytes(int64_t total_bytes, int cores,
                      std::optional<int64_t> num_rows = std::nullopt) const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("num_partitions", options.num_partitions);
    visit("block_size", options.block_size);
  }
};

/// The number of splits of about `target_bytes` of a file; a rest of less than a quarter
/// is not a separate split, so that files of nearly equal size get equally many.
int64_t NumPieces(int64_t num_bytes, int64_t target_bytes);

/// Positions that cut [begin, end) into equal parts of about `target_bytes`.
std::vector<int64_t> EvenTargets(int64_t begin, int64_t end, int64_t target_bytes);

}  // namespace xshards::io
