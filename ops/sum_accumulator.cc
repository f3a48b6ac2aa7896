// SPDX-License-Identifier: Apache-2.0
#include <type_traits>
#include <utility>

#include "ops/accumulator.h"
#include "ops/numeric_values.h"
#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

// Integers wrap around, as numpy's do.
template <typename T>
void AddTo(T& sum, T value) {
  if constexpr (std::is_integral_v<T>) {
    sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
  } else {
    sum += value;
  }
}

/// sum: 0 where all values are missing. T is int64_t, uint64_t or double.
template <typename T>
class SumAccumulator final : public Accumulator {
 public:
  explicit SumAccumulator(AccumulatorOptions options) : options_(std::move(options)) {}

  void Resize(size_t num_groups) override { sums_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(auto numbers, NumericValues<T>(values, options_.pool));
    const T* raw = numbers->raw_values();
    ForEachValid(*numbers, [&](int64_t i) {
      AddTo(sums_[groups[static_cast<size_t>(i)]], raw[i]);
    });
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    return Consume(states[0], groups);
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::CTypeTraits<T>::type_singleton()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    return arrow::ArrayVector{ToArray(std::move(sums_))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return FromNumbers(ToArray(std::move(sums_)), options_.output_type, options_.pool);
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(sums_.capacity() * sizeof(T));
  }

 private:
  const AccumulatorOptions options_;
  std::vector<T> sums_;
};

/// mean: missing where all values are.
class MeanAccumulator final : public Accumulator {
 public:
  explicit MeanAccumulator(AccumulatorOptions options) : options_(std::move(options)) {}

  void Resize(size_t num_groups) override { groups_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(auto numbers, NumericValues<double>(values, options_.pool));
    const double* raw = numbers->raw_values();
    ForEachValid(*numbers, [&](int64_t i) {
      Group& group = groups_[groups[static_cast<size_t>(i)]];
      group.sum += raw[i];
      ++group.count;
    });
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& sums = static_cast<const arrow::DoubleArray&>(*states[0]);
    const auto& counts = static_cast<const arrow::Int64Array&>(*states[1]);
    for (size_t i = 0; i < groups.size(); ++i) {
      groups_[groups[i]].sum += sums.Value(static_cast<int64_t>(i));
      groups_[groups[i]].count += counts.Value(static_cast<int64_t>(i));
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::float64(), arrow::int64()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    std::vector<double> sums;
    std::vector<int64_t> counts;
    for (const Group& group : groups_) {
      sums.push_back(group.sum);
      counts.push_back(group.count);
    }
    return arrow::ArrayVector{ToArray(std::move(sums)), ToArray(std::move(counts))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    std::vector<double> means;
    for (const Group& group : groups_) {
      means.push_back(group.sum / static_cast<double>(group.count));
    }
    ARROW_ASSIGN_OR_RAISE(
        auto result,
        ToArray(
            std::move(means), [this](size_t i) { return groups_[i].count == 0; },
            options_.pool));
    return FromNumbers(std::move(result), options_.output_type, options_.pool);
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(groups_.capacity() * sizeof(Group));
  }

 private:
  struct Group {
    double sum = 0;
    int64_t count = 0;
  };
  const AccumulatorOptions options_;
  std::vector<Group> groups_;
};

}  // namespace

MadeAccumulator MakeSumAccumulator(const AccumulatorOptions& options) {
  if (options.input_type->id() == arrow::Type::DECIMAL128) {
    return MakeDecimalAccumulator(options);
  }
  if (options.function != "sum") return std::make_unique<MeanAccumulator>(options);
  switch (options.output_type->id()) {
    case arrow::Type::INT64:
    case arrow::Type::DURATION:
      return std::make_unique<SumAccumulator<int64_t>>(options);
    case arrow::Type::UINT64:
      return std::make_unique<SumAccumulator<uint64_t>>(options);
    default:
      return std::make_unique<SumAccumulator<double>>(options);
  }
}

}  // namespace xshards::ops
