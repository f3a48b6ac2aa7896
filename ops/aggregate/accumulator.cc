// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/accumulator.h"

namespace xshards::ops {

namespace {

using Maker = MadeAccumulator (*)(const AccumulatorOptions&);

Maker MakerOf(AccumulatorKind kind) {
  switch (kind) {
    case AccumulatorKind::kCount:
      return MakeCountAccumulator;
    case AccumulatorKind::kSum:
    case AccumulatorKind::kProduct:
    case AccumulatorKind::kMean:
      return MakeSumAccumulator;
    case AccumulatorKind::kSampleDeviation:
    case AccumulatorKind::kPopulationDeviation:
    case AccumulatorKind::kSampleVariance:
    case AccumulatorKind::kPopulationVariance:
      return MakeVarianceAccumulator;
    case AccumulatorKind::kSampleSkew:
    case AccumulatorKind::kPopulationSkew:
    case AccumulatorKind::kSampleKurtosis:
    case AccumulatorKind::kPopulationKurtosis:
      return MakeShapeAccumulator;
    case AccumulatorKind::kMin:
    case AccumulatorKind::kMax:
      return MakeExtremeAccumulator;
    case AccumulatorKind::kFirst:
    case AccumulatorKind::kLast:
    case AccumulatorKind::kFirstValue:
    case AccumulatorKind::kLastValue:
      return MakePickAccumulator;
    case AccumulatorKind::kQuantile:
      return MakeQuantileAccumulator;
    case AccumulatorKind::kDistinctSketch:
      return MakeSketchAccumulator;
    case AccumulatorKind::kDistinctCount:
    case AccumulatorKind::kDistinctSum:
    case AccumulatorKind::kList:
    case AccumulatorKind::kSet:
      return MakeDistinctAccumulator;
  }
  return nullptr;
}

}  // namespace

MadeAccumulator MakeAccumulator(AccumulatorOptions options) {
  ARROW_RETURN_NOT_OK(QuantileShare(options.function).status());
  const auto function = FindAggregateFunction(options.function);
  if (!function.ok()) {
    return arrow::Status::NotImplemented(function.status().message());
  }
  options.kind = (*function)->accumulator;
  const Maker maker = MakerOf(options.kind);
  const bool by_category =
      options.categories != nullptr && maker == MakeExtremeAccumulator;
  return by_category ? MakeCategoryAccumulator(options) : maker(options);
}

bool HoldsValues(const std::string& function) {
  const auto found = FindAggregateFunction(function);
  return found.ok() && (*found)->holds_values;
}

std::shared_ptr<arrow::DataType> InputTypeOfStates(
    const std::string& function,
    const std::vector<std::shared_ptr<arrow::DataType>>& state_types) {
  const auto found = FindAggregateFunction(function);
  const bool are_lists =
      found.ok() && MakerOf((*found)->accumulator) == MakeDistinctAccumulator;
  return are_lists ? state_types.at(0)->field(0)->type() : state_types.at(0);
}

}  // namespace xshards::ops
