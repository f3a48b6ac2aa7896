// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>

#include "io/parquet/row_group_reader.h"
#include "io/parquet/row_ranges.h"

namespace xshards::io {

/// A Parquet file open for reading on one thread.
class ParquetFile {
 public:
  /// Read the footer. The error names the file; a truncated one is said to be so.
  /// `in_pieces` asks for columns to be read in pieces also where a row group is small.
  static arrow::Result<std::unique_ptr<ParquetFile>> Open(const std::string& path,
                                                          arrow::MemoryPool* pool,
                                                          bool in_pieces = false);

  const std::string& path() const { return path_; }
  /// The schema in the engine's types, see EngineSchema.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const parquet::FileMetaData& metadata() const { return *metadata_; }
  /// What reads the parts of the file that are not columns.
  parquet::ParquetFileReader& reader() const { return *reader_->parquet_reader(); }
  /// The index in the file's columns of a top-level column that has no parts, or -1.
  int LeafIndex(const std::string& column) const;
  /// The indices of all leaves of the columns; columns the file does not have are left
  /// out.
  std::vector<int> LeafIndices(const std::vector<std::string>& columns) const;

  /// Sizes of row groups, in bytes: as they are in the file, and when unpacked. Only the
  /// given leaves count.
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
  /// `batch_rows`. Columns the file does not have are left out; types may differ from
  /// those wanted, but text is a dictionary where that is wanted and there is one.
  arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRows(
      int row_group, RowRanges rows, const arrow::Schema& wanted, int64_t batch_rows);

 private:
  ParquetFile() = default;
  /// The columns of these names that there are.
  std::vector<ParquetColumn> Columns(int row_group, const arrow::Schema& wanted) const;

  std::string path_;
  bool is_local_ = true;
  arrow::MemoryPool* pool_ = nullptr;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace xshards::io
