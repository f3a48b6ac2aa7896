// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"
#include "io/fs/file_listing.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that output the record starts of a part of a file instead of rows.
/// Parts are scanned in parallel, independent of the text before them.
inline constexpr char kCsvCutsFormat[] = "csv_cuts";

OpenNode MakeCsvCutsScan();

/// A file, and where its rows begin.
struct CsvText {
  InputFile file;
  int64_t data_begin = 0;
  /// Where to cut its start, ascending. The text after the last is cut by size.
  std::vector<int64_t> starts{};
};

struct CsvCutting {
  int64_t target_bytes = 0;   // approximate size of a split
  int64_t segment_bytes = 0;  // minimal size of a scanned part
  arrow::StopToken stop = arrow::StopToken::Unstoppable();
};

/// Cut CSV files into splits that start and end between records; at least one per file,
/// which may be empty. Only the quotes before a line end determine whether it ends a
/// record: a few thousand bytes suffice if some quote in them cannot open a field;
/// otherwise the file is read completely. One split if cutting is impossible: compressed
/// files, comments, escape characters, and files of an odd structure (IsOdd) that have
/// quotes.
arrow::Result<std::vector<Split>> CutCsvFiles(const std::vector<CsvText>& texts,
                                              const CsvCutting& cutting,
                                              const CsvOptions& options,
                                              const RunPlan& run,
                                              arrow::MemoryPool* pool);

}  // namespace xshards::io
