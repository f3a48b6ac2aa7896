// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

// The one table of aggregate functions: schemas, operators, Python and compat read it.

/// What is computed of a group's values; ops/aggregate has an accumulator for each.
enum class AccumulatorKind : uint8_t {
  kCount,
  kSum,
  kProduct,
  kMean,
  kMin,
  kMax,
  kSampleDeviation,
  kPopulationDeviation,
  kSampleVariance,
  kPopulationVariance,
  kSampleSkew,
  kPopulationSkew,
  kSampleKurtosis,
  kPopulationKurtosis,
  kFirst,
  kLast,
  kFirstValue,
  kLastValue,
  kQuantile,
  kDistinctCount,
  kDistinctSketch,
  kDistinctSum,
  kList,
  kSet,
};

/// The types of columns that a function takes.
enum class AggregateInput : uint8_t {
  kAny,
  kComparable,  // values that can be told apart: all but Python objects
  kOrdered,     // values that have an order
  kNumbers,     // numbers, booleans, nulls
  kDecimals,    // numbers and decimals
  kDurations,   // numbers, decimals and durations
  kTimes,       // numbers, decimals, durations and timestamps
};

/// The type of a function's result.
enum class AggregateResult : uint8_t {
  kCount,          // int64, of the dtype family of the column
  kDistinctCount,  // int64
  kSum,            // the widest type of the column's kind
  kMean,           // float64, or a time
  kQuantile,       // as kMean, but no decimal
  kMedian,         // as kMean, but float32 of float32
  kDeviation,      // a float, or a duration
  kMoment,         // a float
  kValue,          // as the column
  kList,           // a list of the column's values
};

/// One row of the table.
struct AggregateFunction {
  std::string_view name;
  std::vector<std::string_view> aliases = {};
  /// The names, of all of these, by which Spark knows it; none: it does not.
  std::vector<std::string_view> spark_names = {};
  AccumulatorKind accumulator;
  AggregateInput input;
  AggregateResult result;
  bool needs_column = true;
  /// A group's state holds its values, and so grows with its rows.
  bool holds_values = false;
  /// A method of this name reduces a Series of pandas.
  bool is_reduction = false;
};

XSHARDS_EXPORT std::span<const AggregateFunction> AggregateFunctions();

/// The function of a name or an alias; "quantile(0.25)" is quantile. Invalid lists all
/// names there are, or says what is wrong with the quantile.
XSHARDS_EXPORT arrow::Result<const AggregateFunction*> FindAggregateFunction(
    std::string_view name);

/// False if a function takes columns of any type, such as text.
XSHARDS_EXPORT bool NeedsNumbers(const AggregateFunction& function);

/// The share of values below median, quantile (0.5) or "quantile(0.25)". Invalid if it is
/// no number between 0 and 1.
XSHARDS_EXPORT arrow::Result<double> QuantileShare(std::string_view name);

}  // namespace xshards
