// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <arrow/array/builder_decimal.h>
#include <arrow/util/decimal.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/decimal_values.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

using arrow::Decimal128;

int32_t ScaleOf(const arrow::DataType& type) {
  return static_cast<const arrow::Decimal128Type&>(type).scale();
}

/// The nearest quotient, half away from zero, as in Arrow. `count` is not 0.
Decimal128 Divided(const Decimal128& sum, int64_t count) {
  const Decimal128 divisor(count);
  const auto [quotient, rest] = *sum.Divide(divisor);  // fails only for zero
  const Decimal128 twice = Decimal128::Abs(rest) * Decimal128(2);
  if (twice < divisor) return quotient;
  return sum < Decimal128(0) ? quotient - Decimal128(1) : quotient + Decimal128(1);
}

/// sum and mean of decimals, by exact sums. If all values are missing, the sum is 0 and
/// the mean is missing. States are the sum and the count.
class DecimalAccumulator final : public Accumulator {
 public:
  explicit DecimalAccumulator(AccumulatorOptions options)
      : options_(std::move(options)),
        is_sum_(options_.kind == AccumulatorKind::kSum),
        sum_type_(arrow::decimal128(arrow::Decimal128Type::kMaxPrecision,
                                    ScaleOf(*options_.input_type))) {}

  void Resize(size_t num_groups) override {
    sums_.resize(num_groups);
    counts_.resize(num_groups);
  }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    const auto& decimals = static_cast<const arrow::Decimal128Array&>(*values);
    ForEachValid(decimals, [&](int64_t i) {
      const uint32_t group = groups[static_cast<size_t>(i)];
      Add(Decimal128(decimals.GetValue(i)), group);
      ++counts_[group];
    });
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& sums = static_cast<const arrow::Decimal128Array&>(*states[0]);
    const auto& counts = static_cast<const arrow::Int64Array&>(*states[1]);
    for (size_t i = 0; i < groups.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      Add(Decimal128(sums.GetValue(row)), groups[i]);
      counts_[groups[i]] += counts.Value(row);
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {sum_type_, arrow::int64()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    ARROW_ASSIGN_OR_RAISE(auto sums, Sums());
    return arrow::ArrayVector{std::move(sums), ToArray(std::move(counts_))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    if (is_sum_) return Sums();
    return arrow::is_decimal(options_.output_type->id()) ? DecimalMeans() : Means();
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(sums_.capacity() * sizeof(Decimal128) +
                                counts_.capacity() * sizeof(int64_t));
  }

 private:
  void Add(const Decimal128& value, uint32_t group) {
    Decimal128& sum = sums_[group];
    const bool may_overflow = sum.IsNegative() == value.IsNegative();
    sum += value;
    has_overflowed_ |= may_overflow && sum.IsNegative() != value.IsNegative();
  }

  arrow::Status CheckDigits() const {
    const auto fits = [](const Decimal128& sum) {
      return sum.FitsInPrecision(arrow::Decimal128Type::kMaxPrecision);
    };
    if (has_overflowed_ || !std::all_of(sums_.begin(), sums_.end(), fits)) {
      return arrow::Status::Invalid("A sum of decimals has more than ",
                                    arrow::Decimal128Type::kMaxPrecision, " digits");
    }
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Sums() const {
    ARROW_RETURN_NOT_OK(CheckDigits());
    arrow::Decimal128Builder builder(sum_type_, options_.pool);
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(sums_.size())));
    for (const auto& sum : sums_) builder.UnsafeAppend(sum);
    return builder.Finish();
  }

  arrow::Result<std::shared_ptr<arrow::Array>> DecimalMeans() const {
    ARROW_RETURN_NOT_OK(CheckDigits());
    arrow::Decimal128Builder builder(options_.output_type, options_.pool);
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(sums_.size())));
    for (size_t i = 0; i < sums_.size(); ++i) {
      if (counts_[i] == 0) {
        builder.UnsafeAppendNull();
      } else {
        builder.UnsafeAppend(Divided(sums_[i], counts_[i]));
      }
    }
    return builder.Finish();
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Means() const {
    ARROW_RETURN_NOT_OK(CheckDigits());
    std::vector<double> means(sums_.size());
    for (size_t i = 0; i < sums_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const double sum, ToDouble(sums_[i], ScaleOf(*sum_type_)));
      means[i] = sum / static_cast<double>(counts_[i]);
    }
    return ToArray(
        std::move(means), [this](size_t i) { return counts_[i] == 0; }, options_.pool);
  }

  const AccumulatorOptions options_;
  const bool is_sum_;
  const std::shared_ptr<arrow::DataType> sum_type_;
  std::vector<Decimal128> sums_;
  std::vector<int64_t> counts_;
  bool has_overflowed_ = false;
};

}  // namespace

MadeAccumulator MakeDecimalAccumulator(const AccumulatorOptions& options) {
  return std::make_unique<DecimalAccumulator>(options);
}

}  // namespace xshards::ops
