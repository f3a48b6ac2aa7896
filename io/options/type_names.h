// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

namespace xshards::io {

/// The type of a name: Arrow's names ("int64", "timestamp[us]", "decimal128(10, 2)"), and
/// pandas' ("str", "Int64", "datetime64[ns]"). Text is large_utf8 under every name.
/// Invalid lists the expected names.
arrow::Result<std::shared_ptr<arrow::DataType>> TypeFromName(const std::string& name);
/// Invalid names the column whose type has an unknown name.
arrow::Status CheckDtype(const std::map<std::string, std::string>& dtype);

/// The engine's type for a column of a file: text and dictionaries of text become
/// large_utf8, other dictionaries their values.
std::shared_ptr<arrow::DataType> EngineType(const std::shared_ptr<arrow::DataType>& type);
/// A schema of engine types, every field nullable, without metadata.
std::shared_ptr<arrow::Schema> EngineSchema(const arrow::Schema& schema);

}  // namespace xshards::io
