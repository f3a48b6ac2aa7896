// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/compute/cast.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/gather.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::ops {

namespace {

/// min and max of ordered categories: those of their codes, which are also the states.
class CategoryAccumulator final : public Accumulator {
 public:
  CategoryAccumulator(AccumulatorOptions options, std::unique_ptr<Accumulator> codes)
      : options_(std::move(options)), codes_(std::move(codes)) {}

  void Resize(size_t num_groups) override { codes_->Resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(auto codes,
                          CategoryCodes(values, options_.categories, options_.pool));
    return codes_->Consume(codes, groups);
  }
  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    return codes_->Merge(states, groups);
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return codes_->state_types();
  }
  arrow::Result<arrow::ArrayVector> States() override { return codes_->States(); }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    ARROW_ASSIGN_OR_RAISE(auto codes, codes_->Finish());
    ARROW_ASSIGN_OR_RAISE(auto values, Gather(options_.categories, codes, options_.pool));
    arrow::compute::ExecContext exec(options_.pool);
    return arrow::compute::Cast(*values, options_.output_type,
                                arrow::compute::CastOptions::Safe(), &exec);
  }
  int64_t num_bytes() const override { return codes_->num_bytes(); }

 private:
  const AccumulatorOptions options_;
  const std::unique_ptr<Accumulator> codes_;
};

}  // namespace

MadeAccumulator MakeCategoryAccumulator(const AccumulatorOptions& options) {
  AccumulatorOptions of_codes = options;
  of_codes.input_type = arrow::int32();
  of_codes.output_type = arrow::int32();
  of_codes.categories = nullptr;
  ARROW_ASSIGN_OR_RAISE(auto codes, MakeExtremeAccumulator(of_codes));
  return std::make_unique<CategoryAccumulator>(options, std::move(codes));
}

}  // namespace xshards::ops
