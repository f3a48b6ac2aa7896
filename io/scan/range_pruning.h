// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <arrow/scalar.h>

#include "xshards/expression/expression.h"

namespace xshards::io {

/// The minimum and maximum of a column in some rows.
struct ColumnRange {
  std::shared_ptr<arrow::Scalar> min;
  std::shared_ptr<arrow::Scalar> max;
  bool all_missing = false;
};
/// The range of a column; nullopt if it is unknown.
using RangeOfColumn = std::function<std::optional<ColumnRange>(const std::string& name)>;
/// Whether a column may contain any of some values.
using MayHold =
    std::function<bool(const std::string& name, const arrow::ScalarVector& values)>;

/// True if the ranges, or `may_hold` if given, show that no row passes the filter. Only
/// conjuncts that compare a column with a constant (==, <, <=, >, >=) or look it up in a
/// list are used: they are false for missing values and NaN, which ranges do not include.
bool IsRuledOut(const Expression& filter, const RangeOfColumn& range_of,
                const MayHold& may_hold = nullptr);

/// True for null and NaN.
bool IsMissing(const arrow::Scalar& scalar);

}  // namespace xshards::io
