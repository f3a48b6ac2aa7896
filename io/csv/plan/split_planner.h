// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"
#include "io/fs/file_listing.h"
#include "xshards/execution/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that give, instead of rows, where the records of a part of a file
/// start. Such parts are looked at at the same time, whatever comes before them.
inline constexpr char kCsvCutsFormat[] = "csv_cuts";

OpenNode MakeCsvCutsScan();

/// A file, and where its rows begin.
struct CsvText {
  InputFile file;
  int64_t data_begin = 0;
  /// Where to cut its start, ascending. What is behind the last is cut as it comes.
  std::vector<int64_t> starts{};
};

struct CsvCutting {
  int64_t target_bytes = 0;   // of a piece, about
  int64_t segment_bytes = 0;  // of what is looked at at a time, at least
  arrow::StopToken stop = arrow::StopToken::Unstoppable();
};

/// Cut CSV files into pieces that start and end between records; at least one a file,
/// which may be empty. Only the quotes before a line end tell whether it ends a record: a
/// few thousand bytes do where some of them cannot open a field, and files in which they
/// do not are read through. One piece where that is not possible: compressed files,
/// comments, escape characters, and files of an odd structure (IsOdd) that have quotes.
arrow::Result<std::vector<Split>> CutCsvFiles(const std::vector<CsvText>& texts,
                                              const CsvCutting& cutting,
                                              const CsvOptions& options,
                                              const RunPlan& run,
                                              arrow::MemoryPool* pool);

}  // namespace xshards::io
