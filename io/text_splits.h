// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "io/csv_options.h"
#include "io/file_listing.h"
#include "xshards/plan.h"

namespace xshards::io {

/// Cut a CSV file into pieces of about `target_bytes` that start and end between records;
/// at least one, which may be empty. Reads the whole file where there may be quotes,
/// since only the quotes before a line end tell whether it ends a record. One piece where
/// that is not possible: compressed files, comments, escape characters. Invalid names the
/// line of a quote that is never closed.
arrow::Result<std::vector<Split>> PlanCsvSplits(const InputFile& file, int64_t data_begin,
                                                int64_t target_bytes,
                                                const CsvOptions& options,
                                                arrow::MemoryPool* pool);

/// The same for text where every line end ends a record, such as JSON lines; reads only
/// around the cuts.
arrow::Result<std::vector<Split>> PlanLineSplits(const InputFile& file,
                                                 int64_t target_bytes,
                                                 arrow::MemoryPool* pool);

/// Drop empty splits; but one stays where all are, for a plan has at least one partition.
void DropEmptySplits(std::vector<Split>* splits);

/// Cut [data_begin, size) of a file at ascending positions.
std::vector<Split> CutAt(const InputFile& file, int64_t data_begin,
                         const std::vector<int64_t>& starts);

}  // namespace xshards::io
