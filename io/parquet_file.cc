// SPDX-License-Identifier: Apache-2.0
#include "io/parquet_file.h"

#include <utility>

#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "io/file_system.h"
#include "io/type_names.h"

namespace xshards::io {
namespace {

void CollectLeaves(const parquet::arrow::SchemaField& field, std::vector<int>* leaves) {
  if (field.is_leaf()) leaves->push_back(field.column_index);
  for (const auto& child : field.children) CollectLeaves(child, leaves);
}

const parquet::arrow::SchemaField* FindField(const parquet::arrow::FileReader& reader,
                                             const std::string& name) {
  for (const auto& field : reader.manifest().schema_fields) {
    if (field.field->name() == name) return &field;
  }
  return nullptr;
}

arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> MakeReader(
    const std::string& path, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(path));
  ARROW_ASSIGN_OR_RAISE(auto file, location.file_system->OpenInputFile(location.path));
  parquet::ReaderProperties properties(pool);
  // A remote file is read in few large requests, a local one in pieces, so that memory
  // holds only what is being decoded.
  if (location.is_local) properties.enable_buffered_stream();
  properties.set_buffer_size(1LL << 20);
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
  arrow_properties.set_pre_buffer(!location.is_local);
  arrow_properties.set_binary_type(arrow::Type::LARGE_BINARY);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file), properties));
  return builder.memory_pool(pool)->properties(arrow_properties)->Build();
}

}  // namespace

arrow::Result<std::unique_ptr<ParquetFile>> ParquetFile::Open(const std::string& path,
                                                              arrow::MemoryPool* pool) {
  auto reader = MakeReader(path, pool);
  if (!reader.ok()) {
    return WithPath(reader.status(),
                    "Expected a whole Parquet file (truncated files lack their footer); "
                    "could not open",
                    path);
  }
  std::unique_ptr<ParquetFile> file(new ParquetFile());
  file->path_ = path;
  file->reader_ = reader.MoveValueUnsafe();
  file->metadata_ = file->reader_->parquet_reader()->metadata();
  std::shared_ptr<arrow::Schema> schema;
  ARROW_RETURN_NOT_OK(
      WithPath(file->reader_->GetSchema(&schema), "Could not read the schema of", path));
  file->schema_ = EngineSchema(*schema);
  return file;
}

int ParquetFile::LeafIndex(const std::string& column) const {
  const auto* field = FindField(*reader_, column);
  return field == nullptr || !field->is_leaf() ? -1 : field->column_index;
}

std::vector<int> ParquetFile::LeafIndices(const std::vector<std::string>& columns) const {
  std::vector<int> leaves;
  for (const auto& column : columns) {
    if (const auto* field = FindField(*reader_, column)) CollectLeaves(*field, &leaves);
  }
  return leaves;
}

arrow::Result<ParquetFile::Bytes> ParquetFile::BytesOf(
    int row_group, const std::vector<int>& leaves) const {
  Bytes bytes;
  BEGIN_PARQUET_CATCH_EXCEPTIONS
  const auto group = metadata_->RowGroup(row_group);
  for (const int leaf : leaves) {
    const auto chunk = group->ColumnChunk(leaf);
    bytes.compressed += chunk->total_compressed_size();
    bytes.uncompressed += chunk->total_uncompressed_size();
  }
  END_PARQUET_CATCH_EXCEPTIONS
  return bytes;
}

arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ParquetFile::ReadRowGroup(
    int row_group, const std::vector<int>& leaves, int64_t batch_rows) {
  reader_->set_batch_size(batch_rows);
  return reader_->GetRecordBatchReader({row_group}, leaves);
}

}  // namespace xshards::io
