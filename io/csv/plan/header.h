// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"

namespace xshards::io {

/// What the start of a CSV file says.
struct CsvHeader {
  std::vector<std::string> names;  // of all columns, in the file's order
  int64_t num_leading = 0;         // how many of them, the first, are the rows' index
  int64_t data_begin = 0;          // where the first record of data starts
  int64_t first_line = 0;          // the number of its line, where some are left out
};

/// Read the column names: past a byte order mark, lines that are left out, and those
/// before `header_row`. Names come as pandas makes them: empty ones are "Unnamed: i",
/// repeated ones "a.1", "a.2"; without a header, `names` or "0", "1", ... Where the first
/// row of data has more fields than there are names, the first ones are its index.
/// Invalid "No columns to parse from file" for a file with nothing in it, unless there
/// are `names`, and for one that has no line `header_row`.
arrow::Result<CsvHeader> ReadCsvHeader(const std::string& path, int64_t file_size,
                                       const CsvOptions& options,
                                       const arrow::StopToken& stop,
                                       arrow::MemoryPool* pool);

/// The error for more `names` than rows have fields.
arrow::Status TooManyNames(const CsvOptions& options, int64_t num_fields,
                           const std::string& path);

/// The name of a column that holds a level of the index.
std::string IndexLevelName(int64_t level);

/// Make names unique as pandas does.
std::vector<std::string> MangleNames(std::vector<std::string> names);

}  // namespace xshards::io
