// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "io/file_listing.h"
#include "xshards/plan.h"

namespace xshards::io {

/// Cut a file into pieces of about `target_bytes` that start and end between lines, at
/// least one, which may be empty: for text where every line end ends a record, such as
/// JSON lines. Reads only around the cuts.
arrow::Result<std::vector<Split>> PlanLineSplits(const InputFile& file,
                                                 int64_t target_bytes,
                                                 arrow::MemoryPool* pool);

/// Drop empty splits; but one stays where all are, for a plan has at least one partition.
void DropEmptySplits(std::vector<Split>* splits);

/// Cut [data_begin, size) of a file at ascending positions.
std::vector<Split> CutAt(const InputFile& file, int64_t data_begin,
                         const std::vector<int64_t>& starts);

}  // namespace xshards::io
