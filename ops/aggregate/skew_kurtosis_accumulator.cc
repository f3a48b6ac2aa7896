// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <utility>

#include "ops/aggregate/accumulator.h"
#include "ops/aggregate/moments.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Of the population (Spark's skewness and kurtosis). Undefined if all values are equal.
double Skewness(const ShapeMoments& m) {
  return m.m2 == 0 ? kMissing : std::sqrt(m.count) * m.m3 / std::pow(m.m2, 1.5);
}
double Kurtosis(const ShapeMoments& m) {
  return m.m2 == 0 ? kMissing : m.count * m.m4 / (m.m2 * m.m2) - 3;
}

// Of a sample (pandas' skew and kurt), without bias.
double Skew(const ShapeMoments& m) {
  if (m.count < 3) return kMissing;
  return Skewness(m) * std::sqrt(m.count * (m.count - 1)) / (m.count - 2);
}
double Kurt(const ShapeMoments& m) {
  if (m.count < 4) return kMissing;
  const double n = m.count;
  return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * Kurtosis(m) + 6);
}

using Measure = double (*)(const ShapeMoments&);

/// Skewness and kurtosis. Missing if there are too few values.
class ShapeAccumulator final : public Accumulator {
 public:
  ShapeAccumulator(AccumulatorOptions options, Measure measure)
      : options_(std::move(options)), measure_(measure) {}

  void Resize(size_t num_groups) override { groups_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(auto numbers, NumericValues<double>(values, options_.pool));
    AddToGroups(*numbers, groups, &groups_);
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto value = [&](size_t state, size_t row) {
      return static_cast<const arrow::DoubleArray&>(*states[state])
          .Value(static_cast<int64_t>(row));
    };
    for (size_t i = 0; i < groups.size(); ++i) {
      groups_[groups[i]].Merge(
          {value(0, i), value(1, i), value(2, i), value(3, i), value(4, i)});
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return std::vector<std::shared_ptr<arrow::DataType>>(5, arrow::float64());
  }
  arrow::Result<arrow::ArrayVector> States() override {
    arrow::ArrayVector states;
    for (const auto part : {&ShapeMoments::count, &ShapeMoments::mean, &ShapeMoments::m2,
                            &ShapeMoments::m3, &ShapeMoments::m4}) {
      std::vector<double> column;
      column.reserve(groups_.size());
      for (const ShapeMoments& group : groups_) column.push_back(group.*part);
      states.push_back(ToArray(std::move(column)));
    }
    return states;
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    std::vector<double> results;
    results.reserve(groups_.size());
    for (const ShapeMoments& group : groups_) results.push_back(measure_(group));
    const auto is_missing = [&results = std::as_const(results)](size_t i) {
      return std::isnan(results[i]);
    };
    ARROW_ASSIGN_OR_RAISE(auto result,
                          ToArray(std::vector(results), is_missing, options_.pool));
    return arrow::compute::Cast(*result, options_.output_type,
                                arrow::compute::CastOptions::Unsafe());
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(groups_.capacity() * sizeof(ShapeMoments));
  }

 private:
  const AccumulatorOptions options_;
  const Measure measure_;
  std::vector<ShapeMoments> groups_;
};

}  // namespace

MadeAccumulator MakeShapeAccumulator(const AccumulatorOptions& options) {
  switch (options.kind) {
    case AccumulatorKind::kSampleSkew:
      return std::make_unique<ShapeAccumulator>(options, Skew);
    case AccumulatorKind::kPopulationSkew:
      return std::make_unique<ShapeAccumulator>(options, Skewness);
    case AccumulatorKind::kSampleKurtosis:
      return std::make_unique<ShapeAccumulator>(options, Kurt);
    default:
      return std::make_unique<ShapeAccumulator>(options, Kurtosis);
  }
}

}  // namespace xshards::ops
