// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/array/array_primitive.h>

#include "ops/accumulator.h"
#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

/// first_position and last_position: where the first or last row of a group is.
template <bool IsLast>
class PositionAccumulator final : public Accumulator {
 public:
  explicit PositionAccumulator(int64_t first_row) : next_row_(first_row) {}

  void Resize(size_t num_groups) override { positions_.resize(num_groups, kNowhere); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>&,
                        const std::vector<uint32_t>& groups) override {
    for (uint32_t group : groups) Note(group, next_row_++);
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const int64_t* rows = static_cast<const arrow::Int64Array&>(*states[0]).raw_values();
    for (size_t i = 0; i < groups.size(); ++i) Note(groups[i], rows[i]);
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::int64()};
  }
  arrow::Result<arrow::ArrayVector> States() override {
    return arrow::ArrayVector{ToArray(std::move(positions_))};
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return ToArray(std::move(positions_));
  }
  int64_t num_bytes() const override {
    return static_cast<int64_t>(positions_.capacity() * sizeof(int64_t));
  }

 private:
  static constexpr int64_t kNowhere = IsLast ? -1 : std::numeric_limits<int64_t>::max();

  void Note(uint32_t group, int64_t row) {
    int64_t& position = positions_[group];
    position = IsLast ? std::max(position, row) : std::min(position, row);
  }

  std::vector<int64_t> positions_;
  int64_t next_row_;
};

}  // namespace

MadeAccumulator MakePositionAccumulator(const AccumulatorOptions& options) {
  if (options.function == "last_position") {
    return std::make_unique<PositionAccumulator<true>>(options.first_row);
  }
  return std::make_unique<PositionAccumulator<false>>(options.first_row);
}

}  // namespace xshards::ops
