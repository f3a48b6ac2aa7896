// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "ops/batches.h"
#include "ops/executors.h"
#include "ops/gather.h"
#include "ops/key_columns.h"
#include "ops/sort_order.h"
#include "ops/unary_stream.h"

namespace xshards::ops {

namespace {

class SortStream final : public UnaryStream {
 public:
  SortStream(SortNode node, std::unique_ptr<BatchStream> input, OperatorContext& context)
      : UnaryStream(std::move(input), context), node_(std::move(node)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    if (rows_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(rows_, CollectInput());
      if (rows_ == nullptr) return nullptr;
      ARROW_RETURN_NOT_OK(Order());
    }
    if (position_ >= rows_->num_rows()) return nullptr;
    ARROW_RETURN_NOT_OK(MakeRoom(context_));
    auto next = order_->Slice(position_, step_);
    position_ += next->length();
    return Gather(rows_, next, context_.pool);
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    if (node_.keys.empty()) {
      return arrow::Status::Invalid("Expected 1 or more columns to sort by, not 0");
    }
    for (const auto& key : node_.keys) {
      ARROW_RETURN_NOT_OK(FindColumns(*input, {key.column}).status());
    }
    return input;
  }

 private:
  arrow::Status Order() {
    step_ = RowsWithin(*rows_, context_.batch_bytes);
    ARROW_ASSIGN_OR_RAISE(auto columns, SortColumns(*rows_, node_.keys, context_.pool));
    ARROW_ASSIGN_OR_RAISE(
        order_, SortOrder(columns, node_.keys, node_.nulls_first, context_.pool));
    return arrow::Status::OK();
  }

  const SortNode node_;
  std::shared_ptr<arrow::RecordBatch> rows_;  // as they came
  std::shared_ptr<arrow::Array> order_;
  int64_t step_ = 1;
  int64_t position_ = 0;
};

}  // namespace

OpenedNode OpenSort(const PlanNode& node, BatchStreams inputs, OperatorContext& context) {
  return OpenUnary<SortStream, SortNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
