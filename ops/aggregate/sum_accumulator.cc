// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ops/aggregate/accumulator.h"
#include "ops/aggregate/compensated_sum.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

/// sum, prod and mean: 0, 1 and missing, respectively, if all values are missing. Sum is
/// a class of compensated_sum.h.
template <typename Sum>
class SumAccumulator final : public Accumulator {
 public:
  explicit SumAccumulator(AccumulatorOptions options) : options_(std::move(options)) {}

  void Resize(size_t num_groups) override { sums_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    using Number = typename Sum::Number;
    ARROW_ASSIGN_OR_RAISE(auto numbers, NumericValues<Number>(values, options_.pool));
    const Number* raw = numbers->raw_values();
    // A product of floats may overflow in one order of its factors and not in another.
    constexpr bool kHasOrder = std::is_same_v<Sum, Product<double>>;
    if (sums_.size() == 1 && !kHasOrder) {
      AddToOneGroup(*numbers, raw);
    } else {
      ForEachValid(*numbers,
                   [&](int64_t i) { sums_[groups[static_cast<size_t>(i)]].Add(raw[i]); });
    }
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    MergeParts(states, groups, EachPart());
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return PartTypes(EachPart());
  }
  arrow::Result<arrow::ArrayVector> States() override { return PartColumns(EachPart()); }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    std::vector<decltype(Sum().value())> values;
    values.reserve(sums_.size());
    for (const Sum& sum : sums_) values.push_back(sum.value());
    std::shared_ptr<arrow::Array> result;
    if constexpr (requires(const Sum& sum) { sum.is_missing(); }) {
      const auto is_missing = [this](size_t i) { return sums_[i].is_missing(); };
      ARROW_ASSIGN_OR_RAISE(result,
                            ToArray(std::move(values), is_missing, options_.pool));
    } else {
      result = ToArray(std::move(values));
    }
    return FromNumbers(std::move(result), options_.output_type, options_.pool);
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(sums_.capacity() * sizeof(Sum));
  }

 private:
  using Parts = typename Sum::Parts;
  using EachPart = std::make_index_sequence<std::tuple_size_v<Parts>>;
  template <size_t Part>
  using PartType = std::tuple_element_t<Part, Parts>;

  /// With several independent sums: each addition to one of them waits for the previous
  /// one.
  void AddToOneGroup(const arrow::Array& numbers, const typename Sum::Number* raw) {
    constexpr int64_t kSideBySide = 8;
    std::array<Sum, kSideBySide> sums{};
    ForEachValidRun(numbers, [&](int64_t begin, int64_t end) {
      int64_t i = begin;
      for (; end - i >= kSideBySide; i += kSideBySide) {
        for (size_t k = 0; k < sums.size(); ++k)
          sums[k].Add(raw[i + static_cast<int64_t>(k)]);
      }
      for (; i < end; ++i) sums[0].Add(raw[i]);
    });
    for (const Sum& sum : sums) sums_[0].Merge(sum);
  }

  template <size_t... Part>
  static std::vector<std::shared_ptr<arrow::DataType>> PartTypes(
      std::index_sequence<Part...> /*each*/) {
    return {arrow::CTypeTraits<PartType<Part>>::type_singleton()...};
  }

  template <size_t... Part>
  arrow::ArrayVector PartColumns(std::index_sequence<Part...> /*each*/) const {
    return {PartColumn<Part>()...};
  }

  template <size_t Part>
  std::shared_ptr<arrow::Array> PartColumn() const {
    std::vector<PartType<Part>> column;
    column.reserve(sums_.size());
    for (const Sum& sum : sums_) column.push_back(std::get<Part>(sum.parts()));
    return ToArray(std::move(column));
  }

  template <size_t... Part>
  void MergeParts(const arrow::ArrayVector& states, const std::vector<uint32_t>& groups,
                  std::index_sequence<Part...> /*each*/) {
    const auto columns = std::tuple(RawValues<PartType<Part>>(*states[Part])...);
    for (size_t i = 0; i < groups.size(); ++i) {
      sums_[groups[i]].Merge(Sum(Parts(std::get<Part>(columns)[i]...)));
    }
  }

  template <typename T>
  static const T* RawValues(const arrow::Array& column) {
    using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
    return static_cast<const ArrayType&>(column).raw_values();
  }

  const AccumulatorOptions options_;
  std::vector<Sum> sums_;
};

/// Sums of integers and times are exact. When merging, the type of the first state
/// decides.
MadeAccumulator MakeMeanAccumulator(const AccumulatorOptions& options) {
  const auto& type = *options.input_type;
  if (type.id() == arrow::Type::UINT64) {
    return std::make_unique<SumAccumulator<RunningMean<WideSum<uint64_t>>>>(options);
  }
  if (arrow::is_integer(type.id()) || type.id() == arrow::Type::BOOL || IsTime(type)) {
    return std::make_unique<SumAccumulator<RunningMean<WideSum<int64_t>>>>(options);
  }
  return std::make_unique<SumAccumulator<RunningMean<CompensatedSum>>>(options);
}

MadeAccumulator MakeProductAccumulator(const AccumulatorOptions& options) {
  switch (options.output_type->id()) {
    case arrow::Type::INT64:
      return std::make_unique<SumAccumulator<Product<int64_t>>>(options);
    case arrow::Type::UINT64:
      return std::make_unique<SumAccumulator<Product<uint64_t>>>(options);
    default:
      return std::make_unique<SumAccumulator<Product<double>>>(options);
  }
}

}  // namespace

MadeAccumulator MakeSumAccumulator(const AccumulatorOptions& options) {
  if (options.input_type->id() == arrow::Type::DECIMAL128) {
    return MakeDecimalAccumulator(options);
  }
  if (options.kind == AccumulatorKind::kProduct) return MakeProductAccumulator(options);
  if (options.kind == AccumulatorKind::kMean) return MakeMeanAccumulator(options);
  switch (options.output_type->id()) {
    case arrow::Type::INT64:
    case arrow::Type::DURATION:
      return std::make_unique<SumAccumulator<WrappingSum<int64_t>>>(options);
    case arrow::Type::UINT64:
      return std::make_unique<SumAccumulator<WrappingSum<uint64_t>>>(options);
    default:
      return std::make_unique<SumAccumulator<CompensatedSum>>(options);
  }
}

}  // namespace xshards::ops
