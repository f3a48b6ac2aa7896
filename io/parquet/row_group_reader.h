// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>

#include "io/parquet/row_ranges.h"

namespace xshards::io {

/// A top-level column of a Parquet file.
struct ParquetColumn {
  std::shared_ptr<arrow::Field> field;  // in the engine's types
  std::vector<int> leaves;              // of the file's columns
  bool is_leaf = false;                 // not a list or struct
};

/// What to read of a row group.
struct RowGroupRequest {
  int row_group = 0;
  std::vector<ParquetColumn> columns;
  RowRanges rows;
  int64_t batch_rows = 0;  // at most, in a batch
  int64_t text_bytes = 0;  // of a column of text, in a batch; about, or one row
  bool pre_buffer = false;
};

/// Read a row group in batches: columns that FlatColumn can decode by it, others by
/// Arrow's reader, whose types may differ from the engine's. `reader` must outlive the
/// result. May throw what Arrow throws, see CatchParquet.
arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRowGroupBatches(
    parquet::arrow::FileReader* reader, const RowGroupRequest& request,
    arrow::MemoryPool* pool);

/// True if reading some rows of these columns costs less than reading all: for columns
/// that Arrow reads, it also reads all rows before them.
bool CanReadRanges(const parquet::RowGroupMetaData& group,
                   const std::vector<ParquetColumn>& columns);

}  // namespace xshards::io
