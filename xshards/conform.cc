// SPDX-License-Identifier: Apache-2.0
#include "xshards/conform.h"

#include <utility>

#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/type.h>

namespace xshards {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Conform(
    std::shared_ptr<arrow::RecordBatch> batch,
    const std::shared_ptr<arrow::Schema>& schema, arrow::MemoryPool* pool) {
  if (batch->schema()->Equals(*schema, /*check_metadata=*/false)) {
    return batch->schema() == schema ? batch : batch->ReplaceSchema(schema);
  }
  arrow::compute::ExecContext context(pool);
  arrow::ArrayVector columns;
  for (const auto& field : schema->fields()) {
    auto column = batch->GetColumnByName(field->name());
    if (column == nullptr) {
      ARROW_ASSIGN_OR_RAISE(
          column, arrow::MakeArrayOfNull(field->type(), batch->num_rows(), pool));
    } else if (!column->type()->Equals(*field->type())) {
      auto cast = arrow::compute::Cast(*column, field->type(),
                                       arrow::compute::CastOptions::Safe(), &context);
      if (!cast.ok()) {
        return arrow::Status::TypeError(
            "Column '", field->name(), "' is expected to be ", field->type()->ToString(),
            " but a partition has ", column->type()->ToString(), ": ",
            cast.status().message());
      }
      column = cast.MoveValueUnsafe();
    }
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema, batch->num_rows(), std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::Schema>> Unify(
    const std::shared_ptr<arrow::Schema>& left,
    const std::shared_ptr<arrow::Schema>& right) {
  if (left == right || left->Equals(*right, /*check_metadata=*/false)) return left;
  auto options = arrow::Field::MergeOptions::Permissive();
  options.promote_binary = false;  // text is not bytes
  auto unified = arrow::UnifySchemas({left, right}, options);
  if (!unified.ok()) {
    return arrow::Status::TypeError("Partitions have columns of no common type: ",
                                    unified.status().message());
  }
  // UnifySchemas drops nothing, but pandas' metadata of the first is what describes it.
  return (*unified)->WithMetadata(left->metadata());
}

}  // namespace xshards
