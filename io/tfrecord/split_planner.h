// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "io/fs/file_listing.h"
#include "io/tfrecord/options.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that output the positions at which to cut a file instead of rows.
inline constexpr char kTfRecordCutsFormat[] = "tfrecord_cuts";

OpenNode MakeTfRecordCutsScan();

/// Cut files between records into splits of about `target_bytes`. Only the headers of
/// records are read; a compressed file is one split.
arrow::Result<std::vector<Split>> CutTfRecordFiles(const std::vector<InputFile>& files,
                                                   int64_t target_bytes,
                                                   const TfRecordOptions& options,
                                                   const RunPlan& run);

}  // namespace xshards::io
