// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "ops/executors.h"
#include "ops/row/evaluate.h"
#include "ops/stream/unary_stream.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::ops {

namespace {

class ProjectStream final : public UnaryStream {
 public:
  ProjectStream(ProjectNode node, std::unique_ptr<BatchStream> input,
                OperatorContext& context)
      : UnaryStream(std::move(input), context), node_(std::move(node)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
    if (batch == nullptr) return nullptr;
    arrow::ArrayVector columns;
    columns.reserve(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].index >= 0) {
        columns.push_back(batch->column(columns_[i].index));
        continue;
      }
      auto column = columns_[i].computed.Evaluate(*batch, &exec_);
      if (!column.ok()) {
        return column.status().WithMessage("Column '",
                                           schema_->field(static_cast<int>(i))->name(),
                                           "': ", column.status().message());
      }
      columns.push_back(column.MoveValueUnsafe());
    }
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    ARROW_ASSIGN_OR_RAISE(auto project, ExpandProject(node_, *input));
    arrow::FieldVector fields;
    for (size_t i = 0; i < project.expressions.size(); ++i) {
      Column column;
      const std::string* source = project.expressions[i].column_name();
      if (source != nullptr) column.index = input->GetFieldIndex(*source);
      if (column.index < 0) {
        ARROW_ASSIGN_OR_RAISE(column.computed,
                              RowExpression::Make(project.expressions[i], *input));
      }
      fields.push_back(column.index >= 0
                           ? Renamed(input->field(column.index), project.names[i])
                           : InPlace(column.computed.field(), project.names[i], *input));
      columns_.push_back(std::move(column));
    }
    return arrow::schema(std::move(fields), input->metadata());
  }

 private:
  struct Column {
    int index = -1;  // of the forwarded input column; -1: computed
    RowExpression computed;
  };

  const ProjectNode node_;
  std::vector<Column> columns_;
};

}  // namespace

OpenedNode OpenProject(const PlanNode& node, BatchStreams inputs,
                       OperatorContext& context) {
  return OpenUnary<ProjectStream, ProjectNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
