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

/// What is to be read of a row group.
struct RowGroupRequest {
  int row_group = 0;
  std::vector<ParquetColumn> columns;
  RowRanges rows;
  int64_t batch_rows = 0;  // at most, in a batch
  bool pre_buffer = false;
};

/// Read a row group in batches: the columns that FlatColumn can decode by it, others by
/// Arrow's reader, whose types may differ from the engine's. `reader` outlives the
/// result.
arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRowGroupBatches(
    parquet::arrow::FileReader* reader, const RowGroupRequest& request,
    arrow::MemoryPool* pool);

/// True if some rows can be read of these columns at less cost than all: where Arrow
/// reads a column, it reads those before them, too.
bool CanReadRanges(const parquet::RowGroupMetaData& group,
                   const std::vector<ParquetColumn>& columns);

}  // namespace xshards::io
