// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/options/option_map.h"

namespace xshards::io {

/// How large the pieces of an input should be. Every format's options have one.
struct SplitSize {
  int num_partitions = 0;  // aim for this many in all; a file is at least one
  int64_t block_size = 0;  // bytes of one piece, where num_partitions is not given

  arrow::Status Validate() const;

  /// Bytes of one piece: as asked, or eight pieces for each core, within 4 to 64 MB. All
  /// where fewer than a million rows are wanted: to cut a text may be to read it through.
  int64_t TargetBytes(int64_t total_bytes, int cores,
                      std::optional<int64_t> num_rows = std::nullopt) const;

  void AddTo(OptionMap* map) const;
  static arrow::Result<SplitSize> FromMap(const OptionMap& map);
};

/// Into how many pieces of about `target_bytes` to cut a file; less than a quarter of one
/// makes no piece of its own, so that files of nearly equal size are cut alike.
int64_t NumPieces(int64_t num_bytes, int64_t target_bytes);

/// Positions that cut [begin, end) into equal parts of about `target_bytes`.
std::vector<int64_t> EvenTargets(int64_t begin, int64_t end, int64_t target_bytes);

}  // namespace xshards::io
