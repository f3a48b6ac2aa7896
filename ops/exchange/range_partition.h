// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/plan/plan.h"

namespace xshards::ops {

/// The partition of each row: the number of boundaries at or before it in sort order,
/// missing values included. `boundaries` has one row per boundary and one column per sort
/// key.
arrow::Result<std::vector<int32_t>> RangeDestinations(
    const arrow::RecordBatch& batch, const std::vector<SortKey>& keys, bool nulls_first,
    const arrow::RecordBatch& boundaries, arrow::MemoryPool* pool);

}  // namespace xshards::ops
