// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "io/fs/file_listing.h"
#include "io/json/options.h"
#include "xshards/execution/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that give, instead of rows, where records of a file start.
inline constexpr char kJsonCutsFormat[] = "json_cuts";

OpenNode MakeJsonCutsScan();

/// Cut files into pieces of about `target_bytes` that start and end between records; at
/// least one a file. `options.lines` must be set. Lines are looked at around the cuts
/// only. An array is read through, since only what comes before tells what a brace
/// belongs to: its first piece starts with the file, others at an object. Compressed
/// files stay whole.
arrow::Result<std::vector<Split>> CutJsonFiles(const std::vector<InputFile>& files,
                                               int64_t target_bytes,
                                               const JsonOptions& options,
                                               const RunPlan& run);

}  // namespace xshards::io
