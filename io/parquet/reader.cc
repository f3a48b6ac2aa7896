// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <parquet/metadata.h>

#include "io/columnar/multi_file_plan.h"
#include "io/fs/file_system.h"
#include "io/parquet/file.h"
#include "io/readers.h"

namespace xshards::io {
namespace {

/// The existing fields of these names.
std::shared_ptr<arrow::Schema> FieldsOf(const arrow::Schema& schema,
                                        const std::vector<std::string>& names) {
  arrow::FieldVector fields;
  for (const auto& name : names) {
    if (auto field = schema.GetFieldByName(name)) fields.push_back(std::move(field));
  }
  return arrow::schema(std::move(fields));
}

/// What a file says about itself; errors do not name it.
arrow::Result<TypedFile> Describe(const ParquetFile& file,
                                  const ParquetOptions& options) {
  TypedFile typed{.schema = file.schema(), .groups = {}, .can_cut_groups = true};
  const auto columns = options.columns.value_or(file.schema()->field_names());
  const auto leaves = file.LeafIndices(columns);
  const auto wanted = FieldsOf(*file.schema(), columns);
  for (int i = 0; i < file.metadata().num_row_groups(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, file.BytesOf(i, leaves));
    ARROW_ASSIGN_OR_RAISE(const int64_t num_rows, file.RowsOf(i));
    typed.groups.push_back({.num_bytes = bytes.compressed, .num_rows = num_rows});
    if (!typed.can_cut_groups) continue;
    ARROW_ASSIGN_OR_RAISE(typed.can_cut_groups, file.CanReadRanges(i, *wanted));
  }
  for (const auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(const bool has_them, file.HasDictionaries(column));
    if (has_them) typed.encodable.insert(column);
  }
  return typed;
}

}  // namespace

arrow::Result<XShards> ReadParquet(std::shared_ptr<Context> context, const Paths& paths,
                                   const ParquetOptions& options) {
  arrow::MemoryPool* const pool = context->memory_pool();
  return ReadTypedFiles("parquet", std::move(context), paths, options,
                        [&](const InputFile& input) -> arrow::Result<TypedFile> {
                          ARROW_ASSIGN_OR_RAISE(const auto file,
                                                ParquetFile::Open(input.path, pool));
                          auto typed = Describe(*file, options);
                          if (!typed.ok())
                            return WithPath(typed.status(), "Could not read", input.path);
                          return typed;
                        });
}

}  // namespace xshards::io
