// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "ops/executors.h"
#include "ops/stream/unary_stream.h"

namespace xshards::ops {

namespace {

class UnionStream final : public BatchStream {
 public:
  UnionStream(BatchStreams inputs, const OperatorContext& context) {
    for (auto& input : inputs) inputs_.emplace_back(std::move(input), context);
  }

  const std::shared_ptr<arrow::Schema>& schema() const override {
    return inputs_.front().schema();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    for (; at_ < inputs_.size(); ++at_) {
      ARROW_ASSIGN_OR_RAISE(auto batch, inputs_[at_].Next());
      if (batch != nullptr) return batch;
    }
    return nullptr;
  }

 private:
  std::vector<Input> inputs_;
  size_t at_ = 0;
};

}  // namespace

OpenedNode OpenUnion(const PlanNode& /*node*/, BatchStreams inputs,
                     OperatorContext& context) {
  return std::make_unique<UnionStream>(std::move(inputs), context);
}

}  // namespace xshards::ops
