// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "io/fs/file_listing.h"
#include "io/scan/scan_stream.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

// Splitting a file between records may require reading it. Formats do this by a separate
// scan, whose splits are complete files and whose rows are positions, so that it runs on
// all cores and can be stopped.

/// The options of such a scan.
struct CutOptions {
  int64_t target_bytes = 1;
  bool records_are_lines = true;  // for formats whose records need not be lines

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("target_bytes", options.target_bytes);
    visit("records_are_lines", options.records_are_lines);
  }
};

/// Find the positions at which to split a file, ascending, about `target_bytes` apart.
using FindStarts = std::function<arrow::Result<std::vector<int64_t>>(
    const Split& split, const CutOptions& options, OperatorContext& context)>;

/// Make the scan that outputs such positions. Errors name the file.
OpenNode MakeCutsScan(FindStarts find);

/// Cut files into splits of about `target_bytes`, by the scan of this format. Files that
/// `can_cut` excludes, and short ones, are one split each.
arrow::Result<std::vector<Split>> CutFiles(
    const std::vector<InputFile>& files, const CutOptions& options, const char* format,
    const std::function<bool(const InputFile& file)>& can_cut, const RunPlan& run);

}  // namespace xshards::io
