// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/file.h"

#include <algorithm>
#include <utility>

#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "io/fs/file_system.h"
#include "io/options/type_names.h"
#include "io/parquet/column_decoder.h"
#include "io/parquet/dictionary_encoding.h"
#include "xshards/types/pandas_dtype.h"

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

// Up to so many bytes of a row group are read a whole column at a time.
constexpr int64_t kMaxWholeBytes = 32LL << 20;

// Text is kept by dictionary if those in the file have so many bytes a row at most:
// of texts of ten bytes, each then comes about ten times in its row group.
constexpr int64_t kDictionaryBytesPerRow = 1;

int64_t LargestRowGroup(const parquet::FileMetaData& metadata) {
  int64_t largest = 0;
  for (int i = 0; i < metadata.num_row_groups(); ++i) {
    const auto group = metadata.RowGroup(i);
    // Not all writers say how large it is when compressed.
    const int64_t num_bytes = group->total_compressed_size() > 0
                                  ? group->total_compressed_size()
                                  : group->total_byte_size();
    largest = std::max(largest, num_bytes);
  }
  return largest;
}

arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> MakeReader(
    const Location& location, arrow::MemoryPool* pool, bool in_pieces) {
  ARROW_ASSIGN_OR_RAISE(auto file, location.file_system->OpenInputFile(location.path));
  parquet::ReaderProperties properties(pool);
  std::shared_ptr<parquet::FileMetaData> metadata;
  BEGIN_PARQUET_CATCH_EXCEPTIONS
  metadata = parquet::ReadMetaData(file);
  // A remote file is read in few large requests, a local one with large row groups in
  // pieces, so that memory holds only what is being decoded.
  if (location.is_local && (in_pieces || LargestRowGroup(*metadata) > kMaxWholeBytes)) {
    properties.enable_buffered_stream();
    properties.set_buffer_size(1LL << 20);
  }
  END_PARQUET_CATCH_EXCEPTIONS
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
  arrow_properties.set_pre_buffer(!location.is_local);
  arrow_properties.set_binary_type(arrow::Type::LARGE_BINARY);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file), properties, std::move(metadata)));
  return builder.memory_pool(pool)->properties(arrow_properties)->Build();
}

}  // namespace

arrow::Result<std::unique_ptr<ParquetFile>> ParquetFile::Open(const std::string& path,
                                                              arrow::MemoryPool* pool,
                                                              bool in_pieces) {
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(path));
  auto reader = MakeReader(location, pool, in_pieces);
  if (!reader.ok()) {
    return WithPath(reader.status(),
                    "Expected a whole Parquet file (truncated files lack their footer); "
                    "could not open",
                    path);
  }
  std::unique_ptr<ParquetFile> file(new ParquetFile());
  file->path_ = path;
  file->is_local_ = location.is_local;
  file->pool_ = pool;
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

std::vector<ParquetColumn> ParquetFile::Columns(int row_group,
                                                const arrow::Schema& wanted) const {
  std::vector<ParquetColumn> columns;
  for (const auto& one : wanted.fields()) {
    const auto* field = FindField(*reader_, one->name());
    if (field == nullptr) continue;
    ParquetColumn column{
        .field = arrow::field(one->name(), EngineType(field->field->type())),
        .is_leaf = field->is_leaf()};
    CollectLeaves(*field, &column.leaves);
    // A file that has changed since it was planned may have plain pages.
    if (ValueType(one->type())->Equals(*column.field->type()) && column.is_leaf &&
        IsAllDictionary(*metadata_->RowGroup(row_group)->ColumnChunk(column.leaves[0]))) {
      column.field = column.field->WithType(one->type());
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

arrow::Result<bool> ParquetFile::CanReadRanges(int row_group,
                                               const arrow::Schema& wanted) const {
  BEGIN_PARQUET_CATCH_EXCEPTIONS
  return xshards::io::CanReadRanges(*metadata_->RowGroup(row_group),
                                    Columns(row_group, wanted));
  END_PARQUET_CATCH_EXCEPTIONS
}

arrow::Result<bool> ParquetFile::HasDictionaries(const std::string& column) const {
  const auto field = schema_->GetFieldByName(column);
  const int leaf = LeafIndex(column);
  if (leaf < 0 || field == nullptr || field->type()->id() != arrow::Type::LARGE_STRING) {
    return false;
  }
  const auto encoded = arrow::dictionary(arrow::int32(), field->type());
  BEGIN_PARQUET_CATCH_EXCEPTIONS
  int64_t dictionary_bytes = 0;
  for (int i = 0; i < metadata_->num_row_groups(); ++i) {
    const auto chunk = metadata_->RowGroup(i)->ColumnChunk(leaf);
    const int64_t num_bytes = DictionaryBytes(*chunk);
    if (!FlatColumn::CanDecode(*metadata_->schema()->Column(leaf), *chunk, *encoded) ||
        num_bytes < 0) {
      return false;
    }
    dictionary_bytes += num_bytes;
  }
  return dictionary_bytes <= metadata_->num_rows() * kDictionaryBytesPerRow;
  END_PARQUET_CATCH_EXCEPTIONS
}

arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ParquetFile::ReadRows(
    int row_group, RowRanges rows, const arrow::Schema& wanted, int64_t batch_rows) {
  const RowGroupRequest request{.row_group = row_group,
                                .columns = Columns(row_group, wanted),
                                .rows = std::move(rows),
                                .batch_rows = batch_rows,
                                .pre_buffer = !is_local_};
  return ReadRowGroupBatches(reader_.get(), request, pool_);
}

}  // namespace xshards::io
