// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ops/executors.h"
#include "ops/stream/unary_stream.h"

namespace xshards::ops {

namespace {

class LimitStream final : public UnaryStream {
 public:
  LimitStream(LimitNode node, std::unique_ptr<BatchStream> input,
              OperatorContext& context)
      : UnaryStream(std::move(input), context), left_(node.count) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    // With a limit of 0, one batch is still read if the schema is not known otherwise.
    if (left_ <= 0 && prepared()) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
    if (batch == nullptr) return nullptr;
    if (batch->num_rows() >= left_) {
      batch = batch->Slice(0, left_);
      CloseInput();
    }
    left_ -= batch->num_rows();
    return batch;
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    return input;
  }

 private:
  int64_t left_;
};

}  // namespace

OpenedNode OpenLimit(const PlanNode& node, BatchStreams inputs,
                     OperatorContext& context) {
  if (node.as<LimitNode>().count < 0) {
    return arrow::Status::Invalid("Expected a limit of 0 or more rows, got ",
                                  node.as<LimitNode>().count);
  }
  return OpenUnary<LimitStream, LimitNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
