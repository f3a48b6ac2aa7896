// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>

#include "io/fs/bounded_file.h"
#include "io/parquet/row_group_reader.h"
#include "io/parquet/row_ranges.h"

namespace xshards::io {

/// A Parquet file open for reading on one thread.
class ParquetFile {
 public:
  /// Read the footer. The error names the file, and says if it is truncated. `in_pieces`
  /// requests reading columns in pieces even if a row group is small.
  static arrow::Result<std::unique_ptr<ParquetFile>> Open(const std::string& path,
                                                          arrow::MemoryPool* pool,
                                                          bool in_pieces = false);
  /// The same for the file of a split. IOError if it has changed since it was planned.
  static arrow::Result<std::unique_ptr<ParquetFile>> Open(const Split& split,
                                                          arrow::MemoryPool* pool,
                                                          bool in_pieces);

  const std::string& path() const { return path_; }
  /// The schema in the engine's types, see EngineSchema.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const parquet::FileMetaData& metadata() const { return *metadata_; }
  /// The reader of the parts of the file that are not columns.
  parquet::ParquetFileReader& reader() const { return *reader_->parquet_reader(); }
  /// The index in the file's columns of a top-level column without children, or -1.
  int LeafIndex(const std::string& column) const;
  /// The indices of all leaves of the columns; columns that the file lacks are skipped.
  std::vector<int> LeafIndices(const std::vector<std::string>& columns) const;

  /// The rows of a row group. Invalid if there is no such row group, or if it says that
  /// it has as many rows as no file can have.
  arrow::Result<int64_t> RowsOf(int row_group) const;

  /// Sizes of row groups, in bytes: in the file, and decompressed. Only the given leaves
  /// count. Invalid if a size is none that they can have.
  struct Bytes {
    int64_t compressed = 0;
    int64_t uncompressed = 0;
  };
  arrow::Result<Bytes> BytesOf(int row_group, const std::vector<int>& leaves) const;

  /// True if ReadRows can read some rows of these columns without the others.
  arrow::Result<bool> CanReadRanges(int row_group, const arrow::Schema& wanted) const;

  /// True if a column is text whose dictionaries are worth keeping, in all row groups.
  arrow::Result<bool> HasDictionaries(const std::string& column) const;

  /// Read rows of a row group, all unless CanReadRanges(), in batches of at most
  /// `batch_rows`, with about `text_bytes` of text in a column. Columns that the file
  /// lacks are skipped; types may differ from those requested, but text is a dictionary
  /// if that is requested and there is one.
  arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRows(
      int row_group, RowRanges rows, const arrow::Schema& wanted, int64_t batch_rows,
      int64_t text_bytes);

 private:
  ParquetFile() = default;
  static arrow::Result<std::unique_ptr<ParquetFile>> Make(
      std::shared_ptr<BoundedFile> input, const std::string& path,
      arrow::MemoryPool* pool, bool in_pieces);
  /// The existing columns of these names.
  std::vector<ParquetColumn> Columns(int row_group, const arrow::Schema& wanted) const;
  /// The column of a name, or nullptr.
  const parquet::arrow::SchemaField* FindField(const std::string& name) const;

  std::string path_;
  bool is_local_ = true;
  int64_t file_bytes_ = 0;
  arrow::MemoryPool* pool_ = nullptr;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unordered_map<std::string, const parquet::arrow::SchemaField*> fields_;
};

}  // namespace xshards::io
