// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/conform.h"

#include <utility>

#include <arrow/array/array_dict.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/type.h>

#include "xshards/types/common_type.h"
#include "xshards/types/dictionary_encoding.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

bool IsEncodingOf(const arrow::DataType& type, const arrow::DataType& values) {
  return type.id() == arrow::Type::DICTIONARY &&
         static_cast<const arrow::DictionaryType&>(type).value_type()->Equals(values);
}

}  // namespace

arrow::compute::CastOptions WideningCast(const arrow::DataType& from,
                                         const std::shared_ptr<arrow::DataType>& to) {
  auto options = arrow::compute::CastOptions::Safe(to);
  // Integers cast to floats are rounded, as in pandas.
  options.allow_float_truncate =
      arrow::is_integer(from.id()) && arrow::is_floating(to->id());
  return options;
}

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
    } else if (IsEncodingOf(*column->type(), *field->type())) {
      ARROW_ASSIGN_OR_RAISE(
          column,
          DecodeValues(static_cast<const arrow::DictionaryArray&>(*column), pool));
    } else if (!column->type()->Equals(*field->type())) {
      auto cast = arrow::compute::Cast(
          *column, field->type(), WideningCast(*ValueType(column->type()), field->type()),
          &context);
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
  if (left == right || left->Equals(*right, /*check_metadata=*/true)) return left;
  arrow::FieldVector fields;
  for (const auto& field : left->fields()) {
    auto other = right->GetFieldByName(field->name());
    if (other == nullptr) {
      fields.push_back(field->WithNullable(true));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto common, ConcatField(field, other));
    fields.push_back(std::move(common));
  }
  for (const auto& field : right->fields()) {
    if (left->GetFieldIndex(field->name()) < 0)
      fields.push_back(field->WithNullable(true));
  }
  return arrow::schema(std::move(fields), left->metadata());
}

}  // namespace xshards
