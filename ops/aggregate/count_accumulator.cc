// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/array/array_primitive.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

/// count: non-null values, or rows.
class CountAccumulator final : public Accumulator {
 public:
  void Resize(size_t num_groups) override { counts_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    if (values == nullptr) {
      for (uint32_t group : groups) ++counts_[group];
    } else {
      ForEachValid(*values,
                   [&](int64_t i) { ++counts_[groups[static_cast<size_t>(i)]]; });
    }
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& counts = static_cast<const arrow::Int64Array&>(*states[0]);
    for (size_t i = 0; i < groups.size(); ++i) {
      counts_[groups[i]] += counts.Value(static_cast<int64_t>(i));
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::int64()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    return arrow::ArrayVector{ToArray(std::move(counts_))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return ToArray(std::move(counts_));
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(counts_.capacity() * sizeof(int64_t));
  }

 private:
  std::vector<int64_t> counts_;
};

}  // namespace

MadeAccumulator MakeCountAccumulator(const AccumulatorOptions&) {
  return std::make_unique<CountAccumulator>();
}

}  // namespace xshards::ops
