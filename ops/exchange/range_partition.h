// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/plan/plan.h"

namespace xshards::ops {

/// The partition of each row: the number of boundaries that are at or before it in the
/// order that Sort gives, missing values included. `boundaries` has one row a boundary
/// and one column a sort key.
arrow::Result<std::vector<int32_t>> RangeDestinations(
    const arrow::RecordBatch& batch, const std::vector<SortKey>& keys, bool nulls_first,
    const arrow::RecordBatch& boundaries, arrow::MemoryPool* pool);

}  // namespace xshards::ops
