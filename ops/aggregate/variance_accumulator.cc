// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "ops/aggregate/accumulator.h"
#include "ops/aggregate/moments.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

/// variance and stddev, of a sample or (_pop) of the population: missing if there are too
/// few values.
class VarianceAccumulator final : public Accumulator {
 public:
  explicit VarianceAccumulator(AccumulatorOptions options)
      : options_(std::move(options)),
        is_root_(options_.kind == AccumulatorKind::kSampleDeviation ||
                 options_.kind == AccumulatorKind::kPopulationDeviation),
        freedom_lost_(options_.kind == AccumulatorKind::kSampleDeviation ||
                              options_.kind == AccumulatorKind::kSampleVariance
                          ? 1
                          : 0) {}

  void Resize(size_t num_groups) override { groups_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(auto numbers, NumericValues<double>(values, options_.pool));
    AddToGroups(*numbers, groups, &groups_);
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& counts = static_cast<const arrow::Int64Array&>(*states[0]);
    const auto& means = static_cast<const arrow::DoubleArray&>(*states[1]);
    const auto& m2s = static_cast<const arrow::DoubleArray&>(*states[2]);
    for (size_t i = 0; i < groups.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      groups_[groups[i]].Merge({counts.Value(row), means.Value(row), m2s.Value(row)});
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::int64(), arrow::float64(), arrow::float64()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    std::vector<int64_t> counts;
    std::vector<double> means;
    std::vector<double> m2s;
    for (const SpreadMoments& group : groups_) {
      counts.push_back(group.count);
      means.push_back(group.mean);
      m2s.push_back(group.m2);
    }
    return arrow::ArrayVector{ToArray(std::move(counts)), ToArray(std::move(means)),
                              ToArray(std::move(m2s))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    std::vector<double> results;
    for (const SpreadMoments& group : groups_) {
      const double variance = group.m2 / static_cast<double>(group.count - freedom_lost_);
      results.push_back(is_root_ ? std::sqrt(variance) : variance);
    }
    ARROW_ASSIGN_OR_RAISE(
        auto result, ToArray(
                         std::move(results),
                         [this](size_t i) { return groups_[i].count <= freedom_lost_; },
                         options_.pool));
    return FromNumbers(std::move(result), options_.output_type, options_.pool);
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(groups_.capacity() * sizeof(SpreadMoments));
  }

 private:
  const AccumulatorOptions options_;
  const bool is_root_;
  const int64_t freedom_lost_;
  std::vector<SpreadMoments> groups_;
};

}  // namespace

MadeAccumulator MakeVarianceAccumulator(const AccumulatorOptions& options) {
  return std::make_unique<VarianceAccumulator>(options);
}

}  // namespace xshards::ops
