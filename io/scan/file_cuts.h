// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <arrow/result.h>

#include "io/fs/file_listing.h"
#include "io/options/option_map.h"
#include "io/scan/scan_stream.h"
#include "xshards/execution/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

// To cut a file between records may be to look through it. Formats do so by a scan of
// their own, whose splits are whole files and whose rows are positions, so that it runs
// on all cores and can be stopped.

/// Find the positions to cut the file of a split at, ascending, about `target_bytes`
/// apart.
using FindStarts = std::function<arrow::Result<std::vector<int64_t>>(
    const Split& split, const OptionMap& options, int64_t target_bytes,
    OperatorContext& context)>;

/// Make the scan that gives such positions. Errors name the file.
OpenNode MakeCutsScan(FindStarts find);

/// Cut files into splits of about `target_bytes`, by the scan of this format and options.
/// Files that `can_cut` rules out, and short ones, are one split each.
arrow::Result<std::vector<Split>> CutFiles(
    const std::vector<InputFile>& files, int64_t target_bytes, const char* format,
    OptionMap options, const std::function<bool(const InputFile& file)>& can_cut,
    const RunPlan& run);

}  // namespace xshards::io
