// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/expression.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace xshards::ops {

/// Compute a bound expression over a batch, as one array of the batch's length: constants
/// are repeated.
arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(
    const arrow::compute::Expression& bound, const arrow::RecordBatch& batch,
    arrow::compute::ExecContext* exec);

}  // namespace xshards::ops
