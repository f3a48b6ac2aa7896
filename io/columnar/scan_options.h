// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/status.h>

namespace xshards::io {

/// What a scan of files that store their schema knows: its schema and splits have all
/// that ParquetOptions say.
struct GroupScanOptions {
  /// How many parts each row group is cut into; splits count parts.
  int64_t parts = 1;

  arrow::Status Validate() const {
    if (parts >= 1) return arrow::Status::OK();
    return arrow::Status::Invalid("parts of a row group must be 1 or more, got ", parts);
  }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("parts", options.parts);
  }
};

}  // namespace xshards::io
