// SPDX-License-Identifier: Apache-2.0
#include "xshards/function/shard_view.h"

#include <utility>

namespace xshards {

arrow::Result<std::shared_ptr<arrow::Array>> ShardView::column(
    const std::string& name) const {
  auto column = batch_->GetColumnByName(name);
  if (column != nullptr) return column;
  std::string names;
  for (const auto& field : schema()->fields()) {
    names += (names.empty() ? "" : ", ") + field->name();
  }
  return arrow::Status::KeyError("There is no column '", name, "'; there are: ", names);
}

arrow::Result<std::shared_ptr<arrow::Table>> ShardView::ToTable() const {
  return arrow::Table::FromRecordBatches(schema(), {batch_});
}

arrow::Result<ShardView> ShardView::WithColumn(
    const std::string& name, const std::shared_ptr<arrow::Array>& values) const {
  auto field = arrow::field(name, values->type());
  const int position = schema()->GetFieldIndex(name);
  if (position < 0) {
    ARROW_ASSIGN_OR_RAISE(auto batch,
                          batch_->AddColumn(batch_->num_columns(), field, values));
    return ShardView(std::move(batch));
  }
  ARROW_ASSIGN_OR_RAISE(auto batch, batch_->SetColumn(position, field, values));
  return ShardView(std::move(batch));
}

}  // namespace xshards
