// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <parquet/column_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

namespace xshards::io {

/// Decodes one column of a Parquet row group, the common kinds directly into Arrow's
/// buffers: numbers of 32 and 64 bits and text, not nested in a list or struct, PLAIN or
/// dictionary-encoded. Dictionary-encoded text can be read as a dictionary array, with
/// one dictionary for all rows of the row group. Used by one thread.
class FlatColumn {
 public:
  /// True if this can decode a column chunk to values of a type.
  static bool CanDecode(const parquet::ColumnDescriptor& column,
                        const parquet::ColumnChunkMetaData& chunk,
                        const arrow::DataType& type);

  /// A decoder for a column that CanDecode() accepts.
  static std::unique_ptr<FlatColumn> Make(std::unique_ptr<parquet::PageReader> pages,
                                          const parquet::ColumnDescriptor& column,
                                          std::shared_ptr<arrow::DataType> type,
                                          arrow::MemoryPool* pool);

  virtual ~FlatColumn() = default;

  /// Decode the next rows: all, or at least one and those whose text takes about
  /// `max_bytes`: a small page may decode to any size. Invalid if there are fewer rows
  /// than requested, or the data are damaged.
  virtual arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(int64_t num_rows,
                                                                int64_t max_bytes) = 0;

  /// Skip the next rows. Pages completely within them are not decompressed.
  virtual arrow::Status Skip(int64_t num_rows) = 0;
};

}  // namespace xshards::io
