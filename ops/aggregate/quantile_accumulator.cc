// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"
#include "xshards/plan/aggregate_functions.h"

namespace xshards::ops {

namespace {

/// median and quantile, exact: all values are kept. A state is the list of a group's
/// values.
class QuantileAccumulator final : public Accumulator {
 public:
  QuantileAccumulator(AccumulatorOptions options, double share)
      : options_(std::move(options)), share_(share) {}

  void Resize(size_t num_groups) override { counts_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(auto numbers, NumericValues<double>(values, options_.pool));
    ForEachValid(*values, [&](int64_t i) {
      Add(numbers->Value(i), groups[static_cast<size_t>(i)]);
    });
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& lists = static_cast<const arrow::LargeListArray&>(*states[0]);
    const auto& numbers = static_cast<const arrow::DoubleArray&>(*lists.values());
    for (int64_t i = 0; i < lists.length(); ++i) {
      for (int64_t j = lists.value_offset(i); j < lists.value_offset(i + 1); ++j) {
        Add(numbers.Value(j), groups[static_cast<size_t>(i)]);
      }
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::large_list(arrow::float64())};
  }

  arrow::Result<arrow::ArrayVector> States() override {
    auto offsets = Offsets();
    auto values = ByGroup(offsets);
    return arrow::ArrayVector{std::make_shared<arrow::LargeListArray>(
        state_types()[0], static_cast<int64_t>(counts_.size()),
        arrow::Buffer::FromVector(std::move(offsets)), ToArray(std::move(values)))};
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    const auto offsets = Offsets();
    auto values = ByGroup(offsets);
    std::vector<double> found(counts_.size());
    for (size_t i = 0; i < counts_.size(); ++i) {
      const std::span<double> group(values.data() + offsets[i],
                                    static_cast<size_t>(counts_[i]));
      if (!group.empty()) found[i] = Quantile(group);
    }
    ARROW_ASSIGN_OR_RAISE(
        auto quantiles,
        ToArray(
            std::move(found), [&](size_t i) { return counts_[i] == 0; }, options_.pool));
    return FromNumbers(std::move(quantiles), options_.output_type, options_.pool);
  }

  int64_t num_bytes() const override {
    return static_cast<int64_t>(counts_.capacity() * sizeof(int64_t) +
                                values_.capacity() * sizeof(double) +
                                owners_.capacity() * sizeof(uint32_t));
  }

 private:
  void Add(double value, uint32_t group) {
    ++counts_[group];
    values_.push_back(value);
    owners_.push_back(group);
  }

  std::vector<int64_t> Offsets() const {
    std::vector<int64_t> offsets(counts_.size() + 1);
    for (size_t i = 0; i < counts_.size(); ++i) offsets[i + 1] = offsets[i] + counts_[i];
    return offsets;
  }

  std::vector<double> ByGroup(std::vector<int64_t> next) const {
    std::vector<double> sorted(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) {
      sorted[static_cast<size_t>(next[owners_[i]]++)] = values_[i];
    }
    return sorted;
  }

  /// Linear interpolation between the two nearest values, as in pandas.
  double Quantile(std::span<double> values) const {
    const double place = share_ * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(std::floor(place));
    const auto at = values.begin() + below;
    std::nth_element(values.begin(), at, values.end());
    const double part = place - std::floor(place);
    if (part == 0) return *at;
    const double next = *std::min_element(at + 1, values.end());
    if (*at == next) return next;  // also if both are infinite
    if (part == 0.5) return (*at + next) / 2;
    // numpy, which pandas uses for columns, interpolates from the nearer value.
    const bool from_next = !options_.has_keys && part > 0.5;
    return from_next ? next - (next - *at) * (1 - part) : *at + (next - *at) * part;
  }

  const AccumulatorOptions options_;
  const double share_;
  std::vector<int64_t> counts_;
  std::vector<double> values_;
  std::vector<uint32_t> owners_;  // the groups of values_
};

}  // namespace

MadeAccumulator MakeQuantileAccumulator(const AccumulatorOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto share, QuantileShare(options.function));
  return std::make_unique<QuantileAccumulator>(options, share);
}

}  // namespace xshards::ops
