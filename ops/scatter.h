// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace xshards::ops {

/// Group the rows of a batch by destination, keeping their order: element d holds the
/// rows for destination d, or is nullptr if there are none. All are slices of one
/// reordered copy of the batch (or of the batch itself where one destination has it all).
arrow::Result<arrow::RecordBatchVector> Scatter(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::vector<int32_t>& destinations, int32_t num_destinations,
    arrow::MemoryPool* pool);

}  // namespace xshards::ops
