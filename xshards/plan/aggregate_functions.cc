// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/aggregate_functions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace xshards {

namespace {

using Input = AggregateInput;
using Kind = AccumulatorKind;
using Result = AggregateResult;

constexpr std::string_view kQuantile = "quantile";

const std::vector<AggregateFunction>& Table() {
  static const std::vector<AggregateFunction> table = {
      {.name = "sum",
       .spark_names = {"sum"},
       .accumulator = Kind::kSum,
       .input = Input::kDurations,
       .result = Result::kSum,
       .is_reduction = true},
      {.name = "prod",
       .accumulator = Kind::kProduct,
       .input = Input::kNumbers,
       .result = Result::kSum,
       .is_reduction = true},
      {.name = "mean",
       .aliases = {"avg"},
       .spark_names = {"avg", "mean"},
       .accumulator = Kind::kMean,
       .input = Input::kTimes,
       .result = Result::kMean,
       .is_reduction = true},
      {.name = "min",
       .spark_names = {"min"},
       .accumulator = Kind::kMin,
       .input = Input::kOrdered,
       .result = Result::kValue,
       .is_reduction = true},
      {.name = "max",
       .spark_names = {"max"},
       .accumulator = Kind::kMax,
       .input = Input::kOrdered,
       .result = Result::kValue,
       .is_reduction = true},
      {.name = "count",
       .spark_names = {"count"},
       .accumulator = Kind::kCount,
       .input = Input::kAny,
       .result = Result::kCount,
       .needs_column = false,
       .is_reduction = true},
      {.name = "std",
       .aliases = {"stddev"},
       .spark_names = {"stddev"},
       .accumulator = Kind::kSampleDeviation,
       .input = Input::kTimes,
       .result = Result::kDeviation,
       .is_reduction = true},
      {.name = "stddev_pop",
       .spark_names = {"stddev_pop"},
       .accumulator = Kind::kPopulationDeviation,
       .input = Input::kTimes,
       .result = Result::kDeviation},
      {.name = "var",
       .aliases = {"variance"},
       .spark_names = {"variance"},
       .accumulator = Kind::kSampleVariance,
       .input = Input::kDecimals,
       .result = Result::kMoment,
       .is_reduction = true},
      {.name = "var_pop",
       .spark_names = {"var_pop"},
       .accumulator = Kind::kPopulationVariance,
       .input = Input::kDecimals,
       .result = Result::kMoment},
      {.name = "skew",
       .accumulator = Kind::kSampleSkew,
       .input = Input::kDecimals,
       .result = Result::kMoment,
       .is_reduction = true},
      {.name = "skewness",
       .spark_names = {"skewness"},
       .accumulator = Kind::kPopulationSkew,
       .input = Input::kDecimals,
       .result = Result::kMoment},
      {.name = "kurt",
       .accumulator = Kind::kSampleKurtosis,
       .input = Input::kDecimals,
       .result = Result::kMoment,
       .is_reduction = true},
      {.name = "kurtosis",
       .spark_names = {"kurtosis"},
       .accumulator = Kind::kPopulationKurtosis,
       .input = Input::kDecimals,
       .result = Result::kMoment},
      {.name = "first",
       .spark_names = {"first"},
       .accumulator = Kind::kFirst,
       .input = Input::kAny,
       .result = Result::kValue},
      {.name = "last",
       .spark_names = {"last"},
       .accumulator = Kind::kLast,
       .input = Input::kAny,
       .result = Result::kValue},
      {.name = "first_value",
       .accumulator = Kind::kFirstValue,
       .input = Input::kAny,
       .result = Result::kValue},
      {.name = "last_value",
       .accumulator = Kind::kLastValue,
       .input = Input::kAny,
       .result = Result::kValue},
      {.name = "median",
       .accumulator = Kind::kQuantile,
       .input = Input::kTimes,
       .result = Result::kMedian,
       .holds_values = true,
       .is_reduction = true},
      {.name = kQuantile,
       .accumulator = Kind::kQuantile,
       .input = Input::kTimes,
       .result = Result::kQuantile,
       .holds_values = true},
      {.name = "nunique",
       .accumulator = Kind::kDistinctCount,
       .input = Input::kComparable,
       .result = Result::kDistinctCount,
       .is_reduction = true},
      {.name = "approx_count_distinct",
       .spark_names = {"approx_count_distinct"},
       .accumulator = Kind::kDistinctSketch,
       .input = Input::kComparable,
       .result = Result::kDistinctCount},
      {.name = "sum_distinct",
       .aliases = {"sumDistinct"},
       .spark_names = {"sumDistinct"},
       .accumulator = Kind::kDistinctSum,
       .input = Input::kDurations,
       .result = Result::kSum,
       .holds_values = true},
      {.name = "collect_list",
       .spark_names = {"collect_list"},
       .accumulator = Kind::kList,
       .input = Input::kAny,
       .result = Result::kList,
       .holds_values = true},
      {.name = "collect_set",
       .spark_names = {"collect_set"},
       .accumulator = Kind::kSet,
       .input = Input::kComparable,
       .result = Result::kList,
       .holds_values = true},
  };
  return table;
}

/// The text in parentheses of "quantile(0.25)"; nullopt for other names.
std::optional<std::string_view> ShareIn(std::string_view name) {
  constexpr std::string_view opening = "quantile(";
  if (!name.starts_with(opening) || !name.ends_with(')')) return std::nullopt;
  return name.substr(opening.size(), name.size() - opening.size() - 1);
}

bool IsCalled(const AggregateFunction& function, std::string_view name) {
  const auto& aliases = function.aliases;
  return function.name == name ||
         std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

/// "sum, prod, mean (avg), ..."
std::string AllNames() {
  std::string names;
  for (const auto& function : Table()) {
    if (!names.empty()) names += ", ";
    names += function.name;
    std::string aliases;
    for (const auto alias : function.aliases) {
      aliases += aliases.empty() ? " (" : ", ";
      aliases += alias;
    }
    if (function.name == kQuantile) aliases = " (quantile(0.25)";
    names += aliases.empty() ? "" : aliases + ")";
  }
  return names;
}

}  // namespace

std::span<const AggregateFunction> AggregateFunctions() { return Table(); }

arrow::Result<const AggregateFunction*> FindAggregateFunction(std::string_view name) {
  ARROW_RETURN_NOT_OK(QuantileShare(name).status());
  const std::string_view wanted = ShareIn(name) ? kQuantile : name;
  for (const auto& function : Table()) {
    if (IsCalled(function, wanted)) return &function;
  }
  return arrow::Status::Invalid("There is no aggregate '", name,
                                "'; there are: ", AllNames());
}

bool NeedsNumbers(const AggregateFunction& function) {
  return function.input >= AggregateInput::kNumbers;
}

arrow::Result<double> QuantileShare(std::string_view name) {
  const auto text = ShareIn(name);
  if (!text) return 0.5;
  const char* end = text->data() + text->size();
  double share = -1;
  const auto [rest, error] = std::from_chars(text->data(), end, share);
  if (error == std::errc() && rest == end && share >= 0 && share <= 1) return share;
  return arrow::Status::Invalid(
      "Expected a quantile between 0 and 1, as in 'quantile(0.25)', got '", name, "'");
}

}  // namespace xshards
