// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "io/csv/convert/time_columns.h"
#include "io/csv/parse/rows.h"
#include "io/csv/parse/value_kinds.h"

namespace xshards::io {

/// Turns the fields of a column into an Arrow array. Used by one thread.
class CsvColumn {
 public:
  /// An `inferred` type rejects values that would change it in pandas: missing values in
  /// uint64, integers beyond int64 in floats. `values` must outlive the column.
  static arrow::Result<std::unique_ptr<CsvColumn>> Make(
      const std::shared_ptr<arrow::DataType>& type, bool inferred,
      const CsvValues* values, arrow::MemoryPool* pool);
  /// A column of integers of any size, as JSON text.
  static std::unique_ptr<CsvColumn> MakeJsonIntegers(const CsvValues* values,
                                                     arrow::MemoryPool* pool);

  /// A column of timestamps that are all in one format.
  static std::unique_ptr<CsvColumn> MakeTimes(
      const std::shared_ptr<arrow::DataType>& type, const TimeFormat& times,
      const CsvValues* values, arrow::MemoryPool* pool);

  virtual ~CsvColumn() = default;

  /// Begin an array of at most `capacity` values.
  virtual arrow::Status Start(int64_t capacity) = 0;
  /// Append rows [from, to). Returns `to`, or the first row whose value does not fit.
  virtual arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                        int64_t to) = 0;
  virtual arrow::Result<std::shared_ptr<arrow::Array>> Finish() = 0;
};

}  // namespace xshards::io
