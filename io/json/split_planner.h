// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "io/fs/file_listing.h"
#include "io/json/options.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that output the start positions of a file's records instead of
/// rows.
inline constexpr char kJsonCutsFormat[] = "json_cuts";

OpenNode MakeJsonCutsScan();

/// Cut files into splits of about `target_bytes` that start and end between records; at
/// least one per file. `options.lines` must be set. Files of lines are read only around
/// the cuts. An array is read completely, since the meaning of a brace depends on all
/// text before it: its first split starts with the file, others at an object. A
/// compressed file is one split.
arrow::Result<std::vector<Split>> CutJsonFiles(const std::vector<InputFile>& files,
                                               int64_t target_bytes,
                                               const JsonOptions& options,
                                               const RunPlan& run);

}  // namespace xshards::io
