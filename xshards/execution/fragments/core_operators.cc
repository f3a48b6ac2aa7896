// SPDX-License-Identifier: Apache-2.0
// The executors that need nothing but core: reading existing partitions, publishing
// and counting.
#include "xshards/execution/fragments/operator_table.h"

namespace xshards {

namespace {

arrow::Result<std::unique_ptr<BatchStream>> OpenLiteral(const PlanNode& node,
                                                        const BatchStreams& /*inputs*/,
                                                        OperatorContext& context) {
  const auto& literal = node.as<LiteralNode>();
  if (literal.partitions.size() != 1) {
    return arrow::Status::Invalid("A fragment reads one partition, got ",
                                  literal.partitions.size());
  }
  return literal.partitions[0].Open(literal.schema, context.pool);
}

arrow::Status Publish(const SinkSpec& /*spec*/, BatchStream& input, BlockWriter& out,
                      OperatorContext& /*context*/) {
  bool any = false;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, input.Next());
    if (batch == nullptr) break;
    // Empty batches are dropped, but the first one carries the schema.
    if (any && batch->num_rows() == 0) continue;
    any = true;
    ARROW_RETURN_NOT_OK(out.Append(0, std::move(batch)));
  }
  if (any || input.schema() == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(input.schema()));
  return out.Append(0, std::move(empty));
}

arrow::Status Count(const SinkSpec& /*spec*/, BatchStream& input, BlockWriter& /*out*/,
                    OperatorContext& context) {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, input.Next());
    if (batch == nullptr) return arrow::Status::OK();
    context.metrics->rows_out += batch->num_rows();
  }
}

}  // namespace

void AddCoreOperators(OperatorTable& table) {
  table.Set(NodeKind::kLiteral, OpenLiteral);
  table.SetSink(SinkKind::kPublish, Publish);
  table.SetSink(SinkKind::kCount, Count);
}

}  // namespace xshards
