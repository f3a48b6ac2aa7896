// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

namespace xshards::io {

// Folders named key=value, which contain the rows with that value in the column.

/// The name of the folder for a value; missing values have a special name.
arrow::Result<std::string> HiveFolder(const std::string& column,
                                      const arrow::Scalar& value);

/// The column and value in a folder's name.
struct HiveValue {
  std::string column;
  std::optional<std::string> value;  // nullopt: missing
};

/// The columns and values of a path's folders, outermost first; folders with other names
/// are ignored.
std::vector<HiveValue> HiveValues(std::string_view path);

/// A type that holds all values of a column: int64 if all are integers, else text.
std::shared_ptr<arrow::DataType> HiveType(
    const std::vector<std::optional<std::string>>& values);
/// A value in that type.
arrow::Result<std::shared_ptr<arrow::Scalar>> ToHiveScalar(
    const HiveValue& value, const std::shared_ptr<arrow::DataType>& type);

}  // namespace xshards::io
