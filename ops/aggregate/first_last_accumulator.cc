// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/gather.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

/// first and last skip missing values, first_value and last_value do not; of any type.
/// Picked values are gathered batch by batch; groups store the index of theirs among all
/// that were picked.
class PickAccumulator final : public Accumulator {
 public:
  explicit PickAccumulator(AccumulatorOptions options)
      : options_(std::move(options)),
        is_last_(options_.kind == AccumulatorKind::kLast ||
                 options_.kind == AccumulatorKind::kLastValue),
        takes_missing_(options_.kind == AccumulatorKind::kFirstValue ||
                       options_.kind == AccumulatorKind::kLastValue) {}

  void Resize(size_t num_groups) override { picks_.resize(num_groups, kNothing); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    std::vector<int64_t> rows;
    const int64_t begin = num_picked_;
    const auto consider = [&](int64_t row, int64_t replaceable_below) {
      int64_t& pick = picks_[groups[static_cast<size_t>(row)]];
      if (pick >= replaceable_below || (values->IsNull(row) && !takes_missing_)) return;
      pick = num_picked_++;
      rows.push_back(row);
    };
    if (is_last_) {
      // From the end, so that the first seen in this batch stays.
      for (int64_t row = values->length() - 1; row >= 0; --row) consider(row, begin);
    } else {
      for (int64_t row = 0; row < values->length(); ++row) consider(row, 0);
    }
    if (rows.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto picked,
                          Gather(values, ToArray(std::move(rows)), options_.pool));
    picked_.push_back(std::move(picked));
    // Only `last` replaces the value of a group and leaves unused values.
    const auto wanted = static_cast<int64_t>(picks_.size());
    return num_picked_ > 2 * wanted + kSlack ? Compact() : arrow::Status::OK();
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
    ARROW_RETURN_NOT_OK(Compact());
    return picked_[0];
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(picks_.capacity() * sizeof(int64_t));
  }

 private:
  static constexpr int64_t kNothing = -1;
  static constexpr int64_t kSlack = 4096;

  // Leaves one array with the value of group i at position i.
  arrow::Status Compact() {
    if (picked_.empty()) {
      ARROW_ASSIGN_OR_RAISE(
          auto nulls,
          arrow::MakeArrayOfNull(options_.input_type, static_cast<int64_t>(picks_.size()),
                                 options_.pool));
      picked_.push_back(std::move(nulls));
    } else {
      ARROW_ASSIGN_OR_RAISE(auto all, arrow::Concatenate(picked_, options_.pool));
      ARROW_ASSIGN_OR_RAISE(auto rows, RowsOrNull(picks_, options_.pool));
      ARROW_ASSIGN_OR_RAISE(auto values, Gather(all, rows, options_.pool));
      picked_ = {std::move(values)};
    }
    for (size_t i = 0; i < picks_.size(); ++i) {
      if (picks_[i] != kNothing) picks_[i] = static_cast<int64_t>(i);
    }
    num_picked_ = static_cast<int64_t>(picks_.size());
    return arrow::Status::OK();
  }

  const AccumulatorOptions options_;
  const bool is_last_;
  const bool takes_missing_;
  std::vector<int64_t> picks_;  // a group's value among all of picked_, or kNothing
  arrow::ArrayVector picked_;
  int64_t num_picked_ = 0;  // the length of picked_
};

}  // namespace

MadeAccumulator MakePickAccumulator(const AccumulatorOptions& options) {
  return std::make_unique<PickAccumulator>(options);
}

}  // namespace xshards::ops
