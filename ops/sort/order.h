// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/plan/plan.h"

namespace xshards::ops {

/// The sort columns of a batch, one per key, with one kind of missing value; categories
/// as their codes.
arrow::Result<arrow::ArrayVector> SortColumns(const arrow::RecordBatch& batch,
                                              const std::vector<SortKey>& keys,
                                              arrow::MemoryPool* pool);

/// The rows in sort order, stable: by the first key, then the second, and so on; missing
/// values first or last, whatever the direction. `columns` are from SortColumns.
/// NotImplemented names a column whose type has no order.
arrow::Result<std::shared_ptr<arrow::Array>> SortOrder(const arrow::ArrayVector& columns,
                                                       const std::vector<SortKey>& keys,
                                                       bool nulls_first,
                                                       arrow::MemoryPool* pool);

}  // namespace xshards::ops
