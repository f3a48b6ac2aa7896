// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/options.h"

#include <set>

#include "io/tfrecord/feature_columns.h"

namespace xshards::io {

arrow::Status TfRecordOptions::Validate() const {
  ARROW_RETURN_NOT_OK(split.Validate());
  if (columns.has_value()) {
    std::set<std::string> seen;
    for (const auto& name : *columns) {
      if (seen.insert(name).second) continue;
      return arrow::Status::Invalid("columns must be unique, got '", name, "' twice");
    }
  }
  if (schema == nullptr) return arrow::Status::OK();
  if (raw) return arrow::Status::Invalid("schema cannot be combined with raw");
  std::set<std::string> seen;
  for (const auto& field : schema->fields()) {
    if (!seen.insert(field->name()).second) {
      return arrow::Status::Invalid("schema must have unique column names, got '",
                                    field->name(), "' twice");
    }
    if (!FormFor(*field->type()).has_value()) {
      return arrow::Status::TypeError(
          "TFRecord features hold integers, floats, bytes, text and lists of these, got ",
          field->type()->ToString(), " (column '", field->name(), "')");
    }
  }
  return arrow::Status::OK();
}

}  // namespace xshards::io
