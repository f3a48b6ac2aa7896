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

/// Decodes one column of a Parquet row group, the common kinds straight into Arrow's
/// buffers: numbers of 32 and 64 bits and text, that are not part of a list or struct,
/// stored as they are or by dictionary. Text by dictionary can be had as a dictionary
/// array, the same dictionary for all rows of the row group. Used by one thread.
class FlatColumn {
 public:
  /// True if this can decode a column chunk to values of a type.
  static bool CanDecode(const parquet::ColumnDescriptor& column,
                        const parquet::ColumnChunkMetaData& chunk,
                        const arrow::DataType& type);

  /// A decoder for what CanDecode() says yes to.
  static std::unique_ptr<FlatColumn> Make(std::unique_ptr<parquet::PageReader> pages,
                                          const parquet::ColumnDescriptor& column,
                                          std::shared_ptr<arrow::DataType> type,
                                          arrow::MemoryPool* pool);

  virtual ~FlatColumn() = default;

  /// Decode the next rows. Invalid if there are not so many or the data are damaged.
  virtual arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(int64_t num_rows) = 0;

  /// Pass over the next rows. Pages that lie within them are not even unpacked.
  virtual arrow::Status Skip(int64_t num_rows) = 0;
};

}  // namespace xshards::io
