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
      return arrow::Status::Invalid("columns must differ, got '", name, "' twice");
    }
  }
  if (schema == nullptr) return arrow::Status::OK();
  if (raw) return arrow::Status::Invalid("schema cannot be combined with raw");
  std::set<std::string> seen;
  for (const auto& field : schema->fields()) {
    if (!seen.insert(field->name()).second) {
      return arrow::Status::Invalid("schema must have columns of different names, got '",
                                    field->name(), "' twice");
    }
    if (!FormFor(*field->type()).has_value()) {
      return arrow::Status::TypeError(
          "TFRecord features hold integers, floats, bytes, text and lists of these, not ",
          field->type()->ToString(), " (column '", field->name(), "')");
    }
  }
  return arrow::Status::OK();
}

OptionMap TfRecordOptions::ToMap() const {
  OptionMap map;
  if (raw) map["raw"] = "true";
  if (compression.has_value()) map["compression"] = NameOf(*compression);
  split.AddTo(&map);
  return map;
}

arrow::Result<TfRecordOptions> TfRecordOptions::FromMap(const OptionMap& map) {
  TfRecordOptions options;
  ARROW_ASSIGN_OR_RAISE(const auto raw, GetBool(map, "raw"));
  options.raw = raw.value_or(false);
  if (const auto name = GetString(map, "compression"); name.has_value()) {
    ARROW_ASSIGN_OR_RAISE(options.compression, TextCompressionFromName(*name));
  }
  ARROW_ASSIGN_OR_RAISE(options.split, SplitSize::FromMap(map));
  return options;
}

}  // namespace xshards::io
