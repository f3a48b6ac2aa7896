// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/csv/options.h>
#include <arrow/csv/parser.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>

namespace xshards::io {

/// What the values of a column look like, as pandas.read_csv sees them.
enum class CsvGuess : uint8_t {
  kNoRows,   // nothing seen
  kMissing,  // rows, all missing
  kBool,
  kInt64,
  kUInt64,
  kFloat64,
  kText,
};

/// Look at a column of parsed text.
arrow::Result<CsvGuess> GuessColumn(const arrow::csv::BlockParser& parser, int column,
                                    const arrow::csv::ConvertOptions& options,
                                    arrow::MemoryPool* pool);

/// What both together look like: integers and floats widen, anything else that differs is
/// text.
CsvGuess Widen(CsvGuess left, CsvGuess right);

/// The column's type: missing throughout is float64, and nothing at all text.
std::shared_ptr<arrow::DataType> TypeOf(CsvGuess guess);

}  // namespace xshards::io
