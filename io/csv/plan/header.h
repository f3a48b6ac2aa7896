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

/// The columns of a CSV file and where its data begins.
struct CsvHeader {
  std::vector<std::string> names;  // of all columns, in the file's order
  int64_t num_leading = 0;         // the first of them, which are the index of the rows
  int64_t data_begin = 0;          // start of the first record of data
  int64_t first_line = 0;          // the number of its line, if some are skipped
};

/// Read the column names: after a byte order mark, skipped lines, and lines before
/// `header_row`. Names are those of pandas: empty ones are "Unnamed: i", repeated ones
/// "a.1", "a.2"; without a header, `names` or "0", "1", ... If the first row of data has
/// more fields than there are names, the first fields are its index. Invalid "No columns
/// to parse from file" for an empty file, unless there are `names`, and for one that has
/// no line `header_row`.
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
