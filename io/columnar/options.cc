// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/options.h"

#include <set>

namespace xshards::io {

arrow::Status ParquetOptions::Validate() const {
  std::set<std::string> seen;
  for (const auto& column : columns.value_or(std::vector<std::string>{})) {
    if (!seen.insert(column).second) {
      return arrow::Status::Invalid("columns must be unique, got '", column, "' twice");
    }
  }
  seen.clear();
  for (const auto& name :
       schema == nullptr ? std::vector<std::string>{} : schema->field_names()) {
    if (!seen.insert(name).second) {
      return arrow::Status::Invalid("schema must have unique column names, got '", name,
                                    "' twice");
    }
  }
  return split.Validate();
}

}  // namespace xshards::io
