// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/gather.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/key_columns.h"
#include "ops/keys/value_table.h"

namespace xshards::ops {

namespace {

/// The number of distinct non-null values (nunique), their sum (sum_distinct), or a list
/// of them in order of appearance (collect_set); collect_list has all non-null values. A
/// state is the list of the values.
class DistinctAccumulator final : public Accumulator {
 public:
  explicit DistinctAccumulator(AccumulatorOptions options)
      : options_(std::move(options)),
        takes_all_(options_.kind == AccumulatorKind::kList),
        keeps_values_(options_.gives_states ||
                      options_.kind != AccumulatorKind::kDistinctCount) {}

  void Resize(size_t num_groups) override { counts_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    if (values->null_count() > 0) return ConsumeValid(values, groups);
    if (takes_all_) {
      for (uint32_t group : groups) ++counts_[group];
      owners_.insert(owners_.end(), groups.begin(), groups.end());
      if (values->length() > 0) values_.push_back(values);
      return arrow::Status::OK();
    }
    // A value is distinct within its group if the pair of both is new.
    ARROW_ASSIGN_OR_RAISE(auto keys, KeyColumn(values, options_.pool));
    std::vector<int64_t> new_rows;
    ARROW_RETURN_NOT_OK(numbers_.Insert(*keys, &value_ids_, &new_rows, options_.pool));
    new_rows.clear();
    ARROW_RETURN_NOT_OK(pairs_.InsertPairs(groups, value_ids_, &pair_ids_, &new_rows));
    for (int64_t row : new_rows) {
      const uint32_t group = groups[static_cast<size_t>(row)];
      ++counts_[group];
      if (keeps_values_) owners_.push_back(group);
    }
    if (keeps_values_ && !new_rows.empty()) {
      ARROW_ASSIGN_OR_RAISE(auto distinct,
                            Gather(values, ToArray(std::move(new_rows)), options_.pool));
      values_.push_back(std::move(distinct));
    }
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& lists = static_cast<const arrow::LargeListArray&>(*states[0]);
    if (lists.length() == 0) return arrow::Status::OK();
    std::vector<uint32_t> owners;
    for (int64_t i = 0; i < lists.length(); ++i) {
      owners.insert(owners.end(), static_cast<size_t>(lists.value_length(i)),
                    groups[static_cast<size_t>(i)]);
    }
    const int64_t begin = lists.value_offset(0);
    const int64_t end = lists.value_offset(lists.length());
    return Consume(lists.values()->Slice(begin, end - begin), owners);
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::large_list(options_.input_type)};
  }

  arrow::Result<arrow::ArrayVector> States() override {
    std::vector<int64_t> offsets(counts_.size() + 1);
    for (size_t i = 0; i < counts_.size(); ++i) offsets[i + 1] = offsets[i] + counts_[i];
    std::vector<int64_t> next = offsets;
    std::vector<int64_t> rows(owners_.size());
    for (size_t i = 0; i < owners_.size(); ++i) {
      rows[static_cast<size_t>(next[owners_[i]]++)] = static_cast<int64_t>(i);
    }
    std::shared_ptr<arrow::Array> values;
    if (values_.empty()) {
      ARROW_ASSIGN_OR_RAISE(values,
                            arrow::MakeEmptyArray(options_.input_type, options_.pool));
    } else {
      ARROW_ASSIGN_OR_RAISE(values, arrow::Concatenate(values_, options_.pool));
      ARROW_ASSIGN_OR_RAISE(values,
                            Gather(values, ToArray(std::move(rows)), options_.pool));
    }
    return arrow::ArrayVector{std::make_shared<arrow::LargeListArray>(
        state_types()[0], static_cast<int64_t>(counts_.size()),
        arrow::Buffer::FromVector(std::move(offsets)), std::move(values))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    if (options_.kind == AccumulatorKind::kDistinctCount)
      return ToArray(std::move(counts_));
    if (options_.kind == AccumulatorKind::kDistinctSum) return SumOfValues();
    ARROW_ASSIGN_OR_RAISE(auto lists, States());
    return lists[0];
  }
  int64_t num_bytes() const override {
    return numbers_.num_bytes() + pairs_.num_bytes() +
           static_cast<int64_t>(counts_.capacity() * sizeof(int64_t) +
                                owners_.capacity() * sizeof(uint32_t));
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> SumOfValues() {
    auto options = options_;
    options.kind = AccumulatorKind::kSum;
    ARROW_ASSIGN_OR_RAISE(auto sums, MakeSumAccumulator(options));
    sums->Resize(counts_.size());
    auto owner = owners_.begin();
    for (const auto& values : values_) {
      const auto end = owner + values->length();
      ARROW_RETURN_NOT_OK(sums->Consume(values, std::vector<uint32_t>(owner, end)));
      owner = end;
    }
    return sums->Finish();
  }

  arrow::Status ConsumeValid(const std::shared_ptr<arrow::Array>& values,
                             const std::vector<uint32_t>& groups) {
    std::vector<int64_t> rows;
    std::vector<uint32_t> groups_of_rows;
    ForEachValid(*values, [&](int64_t i) {
      rows.push_back(i);
      groups_of_rows.push_back(groups[static_cast<size_t>(i)]);
    });
    if (rows.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto valid,
                          Gather(values, ToArray(std::move(rows)), options_.pool));
    return Consume(valid, groups_of_rows);
  }

  const AccumulatorOptions options_;
  const bool takes_all_;
  const bool keeps_values_;
  ValueTable numbers_;  // of the values of all groups
  ValueTable pairs_;    // of group and value
  std::vector<uint32_t> value_ids_;
  std::vector<uint32_t> pair_ids_;
  std::vector<int64_t> counts_;
  arrow::ArrayVector values_;     // distinct in their group, in order of appearance
  std::vector<uint32_t> owners_;  // the groups of values_
};

}  // namespace

MadeAccumulator MakeDistinctAccumulator(const AccumulatorOptions& options) {
  return std::make_unique<DistinctAccumulator>(options);
}

}  // namespace xshards::ops
