// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"
#include "io/csv/scan_options.h"
#include "io/fs/file_listing.h"

namespace xshards::io {

/// A place between records, and the number of the line that begins there.
struct CsvLine {
  int64_t position = 0;
  int64_t line = 0;
};

/// Cut a file up to the last line of `skip_lines`: the first place is `begin`, then
/// places about `target_bytes` apart, and the last is where cutting continues without
/// line numbers. The file is read completely up to there. Only the first place if the
/// file is not cut; empty if no such line follows.
arrow::Result<std::vector<CsvLine>> CutNumberedLines(const InputFile& file, CsvLine begin,
                                                     int64_t target_bytes,
                                                     const CsvOptions& options,
                                                     const arrow::StopToken& stop,
                                                     arrow::MemoryPool* pool);

/// The number of lines of a file, including empty and skipped ones.
arrow::Result<int64_t> CountLines(const InputFile& file, CsvOptions options,
                                  const arrow::StopToken& stop, arrow::MemoryPool* pool);

/// Malformed if `usecols` selects from more `names` than any row from `begin` on has
/// fields, as in pandas; not with options of its Python engine. Reads up to the first row
/// that has them all.
arrow::Status CheckUsedNames(const InputFile& file, CsvLine begin,
                             const CsvOptions& options, const arrow::StopToken& stop,
                             arrow::MemoryPool* pool);

/// Note in a scan's options which lines to leave out of the splits that begin at the
/// places of a file.
void SetSplitLines(const std::string& path, const std::vector<CsvLine>& places,
                   const std::vector<int64_t>& skip_lines, CsvScanOptions* scan);

}  // namespace xshards::io
