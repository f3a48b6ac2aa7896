// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/compute/api_vector.h>

#include "ops/executors.h"
#include "ops/row/evaluate.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"

namespace xshards::ops {

namespace {

class FilterStream final : public UnaryStream {
 public:
  FilterStream(FilterNode node, std::unique_ptr<BatchStream> input,
               OperatorContext& context)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        kept_(context.batch_bytes / 2, context.pool) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    return kept_.Next([this] { return Keep(); });
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    ARROW_ASSIGN_OR_RAISE(predicate_, RowExpression::Make(node_.predicate, *input));
    const auto& type = *predicate_.field()->type();
    if (type.id() != arrow::Type::BOOL) {
      return arrow::Status::TypeError("Expected a boolean predicate, but ",
                                      node_.predicate.ToString(), " is ",
                                      type.ToString());
    }
    return input;
  }

 private:
  /// The rows to keep of the next batch; nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Keep() {
    ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
    if (batch == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto mask, predicate_.Evaluate(*batch, &exec_));
    const auto& selected = static_cast<const arrow::BooleanArray&>(*mask);
    const int64_t count = selected.true_count();
    if (count == batch->num_rows()) return batch;
    if (count == 0) return batch->Slice(0, 0);
    ARROW_ASSIGN_OR_RAISE(
        auto kept, arrow::compute::Filter(
                       batch, mask, arrow::compute::FilterOptions::Defaults(), &exec_));
    return kept.record_batch();
  }

  const FilterNode node_;
  RowExpression predicate_;
  BatchCoalescer kept_;
};

}  // namespace

OpenedNode OpenFilter(const PlanNode& node, BatchStreams inputs,
                      OperatorContext& context) {
  return OpenUnary<FilterStream, FilterNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
