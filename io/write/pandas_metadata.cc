// SPDX-License-Identifier: Apache-2.0
#include "io/write/pandas_metadata.h"

#include <string>
#include <utility>

#include <arrow/util/key_value_metadata.h>

#include "io/text/json_escape.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::io {

namespace {

/// The name that pandas uses as pandas_type.
std::string PandasType(const arrow::DataType& type) {
  if (type.id() == arrow::Type::BOOL) return "bool";
  return arrow::is_base_binary_like(type.id()) ? "unicode" : type.ToString();
}

/// The part of the pandas metadata that describes one column.
std::string ColumnNote(const arrow::Field& field) {
  std::string name;
  AppendJsonString(field.name(), &name);
  // The string dtype of pandas is not stored in files.
  const bool is_text = FamilyOf(field) == DtypeFamily::kText;
  const std::string dtype = is_text ? "string" : DtypeName(field);
  return R"({"name": )" + name + R"(, "field_name": )" + name + R"(, "pandas_type": ")" +
         PandasType(*field.type()) + R"(", "numpy_type": ")" + dtype +
         R"(", "metadata": null})";
}

std::shared_ptr<arrow::Schema> NotedSchema(const arrow::Schema& schema) {
  arrow::FieldVector fields;
  std::string columns;
  for (const auto& field : schema.fields()) {
    fields.push_back(field->RemoveMetadata());
    if (!IsNotedForPandas(*field)) continue;
    if (!columns.empty()) columns += ", ";
    columns += ColumnNote(*field);
  }
  if (columns.empty()) return arrow::schema(std::move(fields));
  return arrow::schema(
      std::move(fields),
      arrow::key_value_metadata(
          {"pandas"}, {R"({"index_columns": [], "column_indexes": [], "columns": [)" +
                       columns + "]}"}));
}

}  // namespace

bool IsNotedForPandas(const arrow::Field& field) {
  const auto family = FamilyOf(field);
  return family == DtypeFamily::kMasked || family == DtypeFamily::kText;
}

OpenWriter WithPandasNote(OpenWriter open) {
  return [open = std::move(open)](const std::shared_ptr<arrow::Schema>& schema,
                                  const std::shared_ptr<arrow::io::OutputStream>& file,
                                  const FormatOptionsPointer& options,
                                  arrow::MemoryPool* pool) {
    return open(NotedSchema(*schema), file, options, pool);
  };
}

}  // namespace xshards::io
