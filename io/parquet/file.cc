// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/file.h"

#include <algorithm>
#include <utility>

#include <arrow/util/int_util_overflow.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "io/fs/file_system.h"
#include "io/options/type_names.h"
#include "io/parquet/catch_parquet.h"
#include "io/parquet/column_decoder.h"
#include "io/parquet/dictionary_encoding.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::io {
namespace {

void CollectLeaves(const parquet::arrow::SchemaField& field, std::vector<int>* leaves) {
  if (field.is_leaf()) leaves->push_back(field.column_index);
  for (const auto& child : field.children) CollectLeaves(child, leaves);
}

// Up to this many bytes of a row group, complete columns are read at a time.
constexpr int64_t kMaxWholeBytes = 32LL << 20;

// Text stays dictionary-encoded if the file's dictionaries have at most this many bytes
// per row: a text of ten bytes then occurs about ten times in its row group.
constexpr int64_t kDictionaryBytesPerRow = 1;

int64_t LargestRowGroup(const parquet::FileMetaData& metadata) {
  int64_t largest = 0;
  for (int i = 0; i < metadata.num_row_groups(); ++i) {
    const auto group = metadata.RowGroup(i);
    // Not all writers store its compressed size.
    const int64_t num_bytes = group->total_compressed_size() > 0
                                  ? group->total_compressed_size()
                                  : group->total_byte_size();
    largest = std::max(largest, num_bytes);
  }
  return largest;
}

arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> MakeReader(
    std::shared_ptr<BoundedFile> file, bool is_local, arrow::MemoryPool* pool,
    bool in_pieces) {
  parquet::ReaderProperties properties(pool);
  auto metadata = parquet::ReadMetaData(file);
  // A remote file is read in few large requests, a local one with large row groups in
  // pieces, so that memory holds only what is being decoded.
  if (is_local && (in_pieces || LargestRowGroup(*metadata) > kMaxWholeBytes)) {
    properties.enable_buffered_stream();
    properties.set_buffer_size(1LL << 20);
  }
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
  arrow_properties.set_pre_buffer(!is_local);
  arrow_properties.set_binary_type(arrow::Type::LARGE_BINARY);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file), properties, std::move(metadata)));
  return builder.memory_pool(pool)->properties(arrow_properties)->Build();
}

// Each page of at most 2^31 rows has a header of some bytes.
constexpr int64_t kMaxRowsPerByte = 1LL << 28;

}  // namespace

arrow::Result<std::unique_ptr<ParquetFile>> ParquetFile::Open(const std::string& path,
                                                              arrow::MemoryPool* pool,
                                                              bool in_pieces) {
  ARROW_ASSIGN_OR_RAISE(auto input, BoundedFile::Open(path, pool));
  return Make(std::move(input), path, pool, in_pieces);
}

arrow::Result<std::unique_ptr<ParquetFile>> ParquetFile::Open(const Split& split,
                                                              arrow::MemoryPool* pool,
                                                              bool in_pieces) {
  ARROW_ASSIGN_OR_RAISE(auto input, BoundedFile::Open(split, pool));
  return Make(std::move(input), split.path, pool, in_pieces);
}

arrow::Result<std::unique_ptr<ParquetFile>> ParquetFile::Make(
    std::shared_ptr<BoundedFile> input, const std::string& path, arrow::MemoryPool* pool,
    bool in_pieces) {
  std::unique_ptr<ParquetFile> file(new ParquetFile());
  file->path_ = path;
  file->is_local_ = IsLocal(path);
  file->file_bytes_ = input->size();
  file->pool_ = pool;
  auto reader = CatchParquet(
      [&] { return MakeReader(std::move(input), file->is_local_, pool, in_pieces); });
  if (!reader.ok()) {
    return WithPath(
        reader.status(),
        "Expected a complete Parquet file (truncated files lack their footer); "
        "could not open",
        path);
  }
  file->reader_ = reader.MoveValueUnsafe();
  file->metadata_ = file->reader_->parquet_reader()->metadata();
  std::shared_ptr<arrow::Schema> schema;
  const auto status = CatchParquet([&] { return file->reader_->GetSchema(&schema); });
  if (!status.ok()) return WithPath(status, "Could not read the schema of", path);
  file->schema_ = EngineSchema(*schema);
  // The first of several columns of a name.
  for (const auto& field : file->reader_->manifest().schema_fields) {
    file->fields_.emplace(field.field->name(), &field);
  }
  return file;
}

const parquet::arrow::SchemaField* ParquetFile::FindField(const std::string& name) const {
  const auto found = fields_.find(name);
  return found == fields_.end() ? nullptr : found->second;
}

int ParquetFile::LeafIndex(const std::string& column) const {
  const auto* field = FindField(column);
  return field == nullptr || !field->is_leaf() ? -1 : field->column_index;
}

std::vector<int> ParquetFile::LeafIndices(const std::vector<std::string>& columns) const {
  std::vector<int> leaves;
  for (const auto& column : columns) {
    if (const auto* field = FindField(column)) CollectLeaves(*field, &leaves);
  }
  return leaves;
}

arrow::Result<int64_t> ParquetFile::RowsOf(int row_group) const {
  if (row_group < 0 || row_group >= metadata_->num_row_groups()) {
    return arrow::Status::Invalid("Expected row group ", row_group, ", the file has ",
                                  metadata_->num_row_groups());
  }
  return CatchParquet([&]() -> arrow::Result<int64_t> {
    const int64_t num_rows = metadata_->RowGroup(row_group)->num_rows();
    if (num_rows < 0 || num_rows / kMaxRowsPerByte > file_bytes_) {
      return arrow::Status::Invalid(
          "Row group ", row_group,
          " has a number of rows that it cannot have: ", num_rows);
    }
    return num_rows;
  });
}

arrow::Result<ParquetFile::Bytes> ParquetFile::BytesOf(
    int row_group, const std::vector<int>& leaves) const {
  return CatchParquet([&]() -> arrow::Result<Bytes> {
    Bytes bytes;
    const auto group = metadata_->RowGroup(row_group);
    for (const int leaf : leaves) {
      const auto chunk = group->ColumnChunk(leaf);
      const int64_t compressed = chunk->total_compressed_size();
      const int64_t uncompressed = chunk->total_uncompressed_size();
      if (compressed < 0 || compressed > file_bytes_ || uncompressed < 0 ||
          arrow::internal::AddWithOverflow(bytes.uncompressed, uncompressed,
                                           &bytes.uncompressed)) {
        return arrow::Status::Invalid("Column chunk ", leaf, " of row group ", row_group,
                                      " has sizes that it cannot have in a file of ",
                                      file_bytes_, " bytes: ", compressed,
                                      " compressed, ", uncompressed, " uncompressed");
      }
      bytes.compressed += compressed;
    }
    return bytes;
  });
}

std::vector<ParquetColumn> ParquetFile::Columns(int row_group,
                                                const arrow::Schema& wanted) const {
  std::vector<ParquetColumn> columns;
  for (const auto& one : wanted.fields()) {
    const auto* field = FindField(one->name());
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
  return CatchParquet([&]() -> arrow::Result<bool> {
    return xshards::io::CanReadRanges(*metadata_->RowGroup(row_group),
                                      Columns(row_group, wanted));
  });
}

arrow::Result<bool> ParquetFile::HasDictionaries(const std::string& column) const {
  const auto field = schema_->GetFieldByName(column);
  const int leaf = LeafIndex(column);
  if (leaf < 0 || field == nullptr || field->type()->id() != arrow::Type::LARGE_STRING) {
    return false;
  }
  const auto encoded = arrow::dictionary(arrow::int32(), field->type());
  return CatchParquet([&]() -> arrow::Result<bool> {
    int64_t dictionary_bytes = 0;
    for (int i = 0; i < metadata_->num_row_groups(); ++i) {
      const auto chunk = metadata_->RowGroup(i)->ColumnChunk(leaf);
      const int64_t num_bytes = DictionaryBytes(*chunk);
      if (!FlatColumn::CanDecode(*metadata_->schema()->Column(leaf), *chunk, *encoded) ||
          num_bytes < 0 || num_bytes > file_bytes_) {
        return false;
      }
      dictionary_bytes += num_bytes;
    }
    return dictionary_bytes / kDictionaryBytesPerRow <= metadata_->num_rows();
  });
}

arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ParquetFile::ReadRows(
    int row_group, RowRanges rows, const arrow::Schema& wanted, int64_t batch_rows,
    int64_t text_bytes) {
  return CatchParquet([&] {
    const RowGroupRequest request{.row_group = row_group,
                                  .columns = Columns(row_group, wanted),
                                  .rows = std::move(rows),
                                  .batch_rows = batch_rows,
                                  .text_bytes = text_bytes,
                                  .pre_buffer = !is_local_};
    return ReadRowGroupBatches(reader_.get(), request, pool_);
  });
}

}  // namespace xshards::io
