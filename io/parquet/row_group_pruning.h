// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "io/parquet/file.h"
#include "io/parquet/row_ranges.h"
#include "xshards/expression/expression.h"

namespace xshards::io {

/// The smallest and the largest value that a column has in some rows.
struct ColumnRange {
  std::shared_ptr<arrow::Scalar> min;
  std::shared_ptr<arrow::Scalar> max;
  bool all_missing = false;
};
/// The range of a column; nullopt where it is not known.
using RangeOfColumn = std::function<std::optional<ColumnRange>(const std::string& name)>;
/// Whether a column may hold any of some values.
using MayHold =
    std::function<bool(const std::string& name, const arrow::ScalarVector& values)>;

/// True if the ranges, or `may_hold` where it is given, show that no row passes the
/// filter. Only parts of a conjunction that compare a column with a constant (==, <, <=,
/// >, >=) or look it up in a list count: they are false for missing values and NaN, which
/// ranges leave out.
bool IsRuledOut(const Expression& filter, const RangeOfColumn& range_of,
                const MayHold& may_hold = nullptr);

/// The same for the statistics and bloom filters of a row group. False wherever these are
/// missing or do not tell. `schema` has the types that the filter sees: of columns that
/// are cast to another kind of type, statistics tell nothing.
arrow::Result<bool> CanSkipRowGroup(const ParquetFile& file, int row_group,
                                    const Expression& filter,
                                    const arrow::Schema& schema);

/// The rows of a row group that may pass the filter, by the statistics of pages (the page
/// index): all where the file has none.
RowRanges RowsThatMayPass(const ParquetFile& file, int row_group,
                          const Expression& filter, const arrow::Schema& schema);

}  // namespace xshards::io
