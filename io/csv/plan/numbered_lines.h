// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"
#include "io/fs/file_listing.h"
#include "io/options/option_map.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// A place between records, and the number of the line that begins there.
struct CsvLine {
  int64_t position = 0;
  int64_t line = 0;
};

/// Cut a file up to where the last line of `skip_lines` has passed: the first place is
/// `begin`, then come places about `target_bytes` apart, and the last is where cutting
/// goes on without numbers. The file is read through so far. Only the first where the
/// file is not cut; empty where no such line follows.
arrow::Result<std::vector<CsvLine>> CutNumberedLines(const InputFile& file, CsvLine begin,
                                                     int64_t target_bytes,
                                                     const CsvOptions& options,
                                                     const arrow::StopToken& stop,
                                                     arrow::MemoryPool* pool);

/// How many lines a file has, empty ones and those left out included.
arrow::Result<int64_t> CountLines(const InputFile& file, CsvOptions options,
                                  const arrow::StopToken& stop, arrow::MemoryPool* pool);

/// Malformed where `usecols` chooses among more `names` than any row from `begin` on has
/// fields, as in pandas; not with what only its Python engine does. Reads up to the first
/// row that has them all.
arrow::Status CheckUsedNames(const InputFile& file, CsvLine begin,
                             const CsvOptions& options, const arrow::StopToken& stop,
                             arrow::MemoryPool* pool);

/// Keep, among a scan's options, which lines to leave out of the splits that begin at the
/// places of a file. Each gets but its own, for all may be many.
void SetSplitLines(const std::string& path, const std::vector<CsvLine>& places,
                   const std::vector<int64_t>& skip_lines, OptionMap* scan_options);
/// Set the lines to leave out of a split; returns the number of its first line, or
/// nothing where there are none.
arrow::Result<std::optional<int64_t>> TakeSplitLines(const Split& split,
                                                     const OptionMap& scan_options,
                                                     CsvOptions* options);

}  // namespace xshards::io
