// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"

namespace xshards::ops {

/// Sort rows in memory, stable, into batches of about the context's size; only the first
/// `limit` rows. Rows that are already in order are forwarded, not copied.
arrow::Result<arrow::RecordBatchVector> SortRows(const arrow::RecordBatchVector& batches,
                                                 const SortNode& node, int64_t limit,
                                                 const OperatorContext& context);

}  // namespace xshards::ops
