// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/accumulator.h"

#include <map>
#include <set>

#include "xshards/plan/aggregate_functions.h"

namespace xshards::ops {

MadeAccumulator MakeAccumulator(const AccumulatorOptions& options) {
  using Maker = MadeAccumulator (*)(const AccumulatorOptions&);
  static const std::map<std::string, Maker> kMakers = {
      {"count", MakeCountAccumulator},
      {"sum", MakeSumAccumulator},
      {"prod", MakeSumAccumulator},
      {"mean", MakeSumAccumulator},
      {"avg", MakeSumAccumulator},
      {"variance", MakeVarianceAccumulator},
      {"var_pop", MakeVarianceAccumulator},
      {"stddev", MakeVarianceAccumulator},
      {"stddev_pop", MakeVarianceAccumulator},
      {"skew", MakeShapeAccumulator},
      {"skewness", MakeShapeAccumulator},
      {"kurt", MakeShapeAccumulator},
      {"kurtosis", MakeShapeAccumulator},
      {"min", MakeExtremeAccumulator},
      {"max", MakeExtremeAccumulator},
      {"first", MakePickAccumulator},
      {"last", MakePickAccumulator},
      {"first_row", MakePickAccumulator},
      {"last_row", MakePickAccumulator},
      {"nunique", MakeDistinctAccumulator},
      {"approx_count_distinct", MakeSketchAccumulator},
      {"sum_distinct", MakeDistinctAccumulator},
      {"collect_list", MakeDistinctAccumulator},
      {"collect_set", MakeDistinctAccumulator},
  };
  if (IsQuantile(options.function)) return MakeQuantileAccumulator(options);
  const auto maker = kMakers.find(options.function);
  if (maker == kMakers.end()) {
    return arrow::Status::NotImplemented("There is no aggregate '", options.function,
                                         "'");
  }
  const bool by_category =
      options.categories != nullptr && maker->second == MakeExtremeAccumulator;
  return by_category ? MakeCategoryAccumulator(options) : maker->second(options);
}

bool HoldsValues(const std::string& function) {
  static const std::set<std::string> kNames = {"sum_distinct", "collect_list",
                                               "collect_set"};
  return IsQuantile(function) || kNames.contains(function);
}

std::shared_ptr<arrow::DataType> InputTypeOfStates(
    const std::string& function,
    const std::vector<std::shared_ptr<arrow::DataType>>& state_types) {
  static const std::set<std::string> kOfLists = {"nunique", "sum_distinct",
                                                 "collect_list", "collect_set"};
  return kOfLists.contains(function) ? state_types.at(0)->field(0)->type()
                                     : state_types.at(0);
}

}  // namespace xshards::ops
