// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/option_map.h"

namespace xshards::io {

/// How large the pieces of an input should be. Every format's options have one.
struct SplitSize {
  int num_partitions = 0;  // aim for this many in all; a file is at least one
  int64_t block_size = 0;  // bytes of one piece, where num_partitions is not given

  arrow::Status Validate() const;

  /// Bytes of one piece: as asked, or two pieces for each core, within 4 to 64 MB.
  int64_t TargetBytes(int64_t total_bytes, int cores) const;

  void AddTo(OptionMap* map) const;
  static arrow::Result<SplitSize> FromMap(const OptionMap& map);
};

}  // namespace xshards::io
