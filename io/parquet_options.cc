// SPDX-License-Identifier: Apache-2.0
#include "io/parquet_options.h"

#include <set>

namespace xshards::io {

arrow::Status ParquetOptions::Validate() const {
  std::set<std::string> seen;
  for (const auto& column : columns.value_or(std::vector<std::string>{})) {
    if (!seen.insert(column).second) {
      return arrow::Status::Invalid("columns must differ, got '", column, "' twice");
    }
  }
  return split.Validate();
}

OptionMap ParquetOptions::ToMap() const {
  OptionMap map;
  if (columns.has_value()) map["columns"] = EncodeList(*columns);
  split.AddTo(&map);
  return map;
}

arrow::Result<ParquetOptions> ParquetOptions::FromMap(const OptionMap& map) {
  ParquetOptions options;
  ARROW_ASSIGN_OR_RAISE(options.columns, GetList(map, "columns"));
  ARROW_ASSIGN_OR_RAISE(options.split, SplitSize::FromMap(map));
  ARROW_RETURN_NOT_OK(options.Validate());
  return options;
}

}  // namespace xshards::io
