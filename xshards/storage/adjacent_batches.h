// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/record_batch.h>

#include "xshards/export.h"

namespace xshards {

/// Concatenate batches whose columns are adjacent slices of the same buffers; zero copy.
/// nullptr if they are not, or if there are none.
XSHARDS_EXPORT std::shared_ptr<arrow::RecordBatch> JoinAdjacent(
    const arrow::RecordBatchVector& batches);

}  // namespace xshards
