// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/options.h"

#include <set>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

namespace xshards::io {

arrow::Status ParquetOptions::Validate() const {
  std::set<std::string> seen;
  for (const auto& column : columns.value_or(std::vector<std::string>{})) {
    if (!seen.insert(column).second) {
      return arrow::Status::Invalid("columns must differ, got '", column, "' twice");
    }
  }
  seen.clear();
  for (const auto& name :
       schema == nullptr ? std::vector<std::string>{} : schema->field_names()) {
    if (!seen.insert(name).second) {
      return arrow::Status::Invalid("schema must have columns of different names, got '",
                                    name, "' twice");
    }
  }
  return split.Validate();
}

OptionMap ParquetOptions::ToMap() const {
  OptionMap map;
  if (columns.has_value()) map["columns"] = EncodeList(*columns);
  if (schema != nullptr) {
    // Fails only where there is no memory for it.
    map["schema"] = arrow::ipc::SerializeSchema(*schema).ValueOrDie()->ToString();
  }
  split.AddTo(&map);
  return map;
}

arrow::Result<ParquetOptions> ParquetOptions::FromMap(const OptionMap& map) {
  ParquetOptions options;
  ARROW_ASSIGN_OR_RAISE(options.columns, GetList(map, "columns"));
  if (const auto schema = GetString(map, "schema"); schema.has_value()) {
    arrow::io::BufferReader stream(arrow::Buffer::FromString(*schema));
    arrow::ipc::DictionaryMemo dictionaries;
    ARROW_ASSIGN_OR_RAISE(options.schema, arrow::ipc::ReadSchema(&stream, &dictionaries));
  }
  ARROW_ASSIGN_OR_RAISE(options.split, SplitSize::FromMap(map));
  ARROW_RETURN_NOT_OK(options.Validate());
  return options;
}

}  // namespace xshards::io
