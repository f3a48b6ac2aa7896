// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <type_traits>
#include <utility>

#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>
#include <arrow/visit_type_inline.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/numeric_values.h"

namespace xshards::ops {

namespace {

template <typename Type>
constexpr bool kIsText = arrow::is_base_binary_type<Type>::value ||
                         arrow::is_binary_view_like_type<Type>::value;

template <typename Type>
constexpr bool kIsNumber =
    arrow::has_c_type<Type>::value && !arrow::is_interval_type<Type>::value &&
    !std::is_same_v<Type, arrow::HalfFloatType>;

/// How a value is stored; bool not in vector<bool>, whose elements have no address.
template <typename Type>
struct Kept {
  using T = typename arrow::TypeTraits<Type>::CType;
};
template <>
struct Kept<arrow::BooleanType> {
  using T = uint8_t;
};
template <>
struct Kept<arrow::Decimal128Type> {
  using T = arrow::Decimal128;
};
template <>
struct Kept<arrow::Decimal256Type> {
  using T = arrow::Decimal256;
};
template <typename Type>
  requires kIsText<Type>
struct Kept<Type> {
  using T = std::string;
};

/// min and max of any ordered type: missing if all values are.
template <typename Type>
class ExtremeAccumulator final : public Accumulator {
 public:
  using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;
  using Value = typename Kept<Type>::T;

  explicit ExtremeAccumulator(AccumulatorOptions options)
      : options_(std::move(options)), is_max_(options_.kind == AccumulatorKind::kMax) {}

  void Resize(size_t num_groups) override {
    values_.resize(num_groups);
    has_value_.resize(num_groups);
  }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    const auto& array = static_cast<const ArrayType&>(*values);
    ForEachValid(array, [&](int64_t i) {
      const uint32_t group = groups[static_cast<size_t>(i)];
      const auto candidate = Read(array, i);
      Value& kept = values_[group];
      if (has_value_[group] && !(is_max_ ? kept < candidate : candidate < kept)) return;
      if constexpr (kIsText<Type>) text_bytes_ += static_cast<int64_t>(candidate.size());
      kept = Value(candidate);
      has_value_[group] = 1;
    });
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    return Consume(states[0], groups);
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {options_.input_type};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    ARROW_ASSIGN_OR_RAISE(auto values, Finish());
    return arrow::ArrayVector{std::move(values)};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    typename arrow::TypeTraits<Type>::BuilderType builder(options_.input_type,
                                                          options_.pool);
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(values_.size())));
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!has_value_[i]) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
      } else if constexpr (std::is_same_v<Type, arrow::BooleanType>) {
        ARROW_RETURN_NOT_OK(builder.Append(values_[i] != 0));
      } else {
        ARROW_RETURN_NOT_OK(builder.Append(values_[i]));
      }
    }
    return builder.Finish();
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(values_.capacity() * (sizeof(Value) + 1)) + text_bytes_;
  }

 private:
  static auto Read(const ArrayType& array, int64_t i) {
    if constexpr (std::is_same_v<Type, arrow::BooleanType>) {
      return static_cast<uint8_t>(array.Value(i));
    } else if constexpr (arrow::is_decimal_type<Type>::value) {
      return Value(array.GetValue(i));
    } else {
      return array.GetView(i);
    }
  }

  const AccumulatorOptions options_;
  const bool is_max_;
  std::vector<Value> values_;
  std::vector<uint8_t> has_value_;
  int64_t text_bytes_ = 0;  // upper bound of the strings' heap memory
};

/// min and max if every value is missing.
class NullAccumulator final : public Accumulator {
 public:
  void Resize(size_t num_groups) override { num_groups_ = num_groups; }
  arrow::Status Consume(const std::shared_ptr<arrow::Array>&,
                        const std::vector<uint32_t>&) override {
    return arrow::Status::OK();
  }
  arrow::Status Merge(const arrow::ArrayVector&, const std::vector<uint32_t>&) override {
    return arrow::Status::OK();
  }
  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::null()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    ARROW_ASSIGN_OR_RAISE(auto values, Finish());
    return arrow::ArrayVector{std::move(values)};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return std::make_shared<arrow::NullArray>(static_cast<int64_t>(num_groups_));
  }
  int64_t num_bytes() const override { return 0; }

 private:
  size_t num_groups_ = 0;
};

struct ExtremeMaker {
  const AccumulatorOptions& options;
  std::unique_ptr<Accumulator> made;

  template <typename Type>
  arrow::Status Visit(const Type& type) {
    if constexpr (std::is_same_v<Type, arrow::NullType>) {
      made = std::make_unique<NullAccumulator>();
    } else if constexpr (kIsNumber<Type> || kIsText<Type> ||
                         std::is_same_v<Type, arrow::Decimal128Type> ||
                         std::is_same_v<Type, arrow::Decimal256Type>) {
      made = std::make_unique<ExtremeAccumulator<Type>>(options);
    } else {
      return arrow::Status::NotImplemented("There is no ", options.function,
                                           " of values of type ", type.ToString());
    }
    return arrow::Status::OK();
  }
};

}  // namespace

MadeAccumulator MakeExtremeAccumulator(const AccumulatorOptions& options) {
  ExtremeMaker maker{options, nullptr};
  ARROW_RETURN_NOT_OK(arrow::VisitTypeInline(*options.input_type, &maker));
  return std::move(maker.made);
}

}  // namespace xshards::ops
