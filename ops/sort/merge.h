// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::ops {

/// Merge sorted runs to one sorted stream, stable: of equal rows, those of an earlier run
/// come first. Holds one batch of each run and the rows merged from them.
std::unique_ptr<BatchStream> MergeRuns(std::vector<std::unique_ptr<BatchStream>> runs,
                                       const SortNode& node,
                                       std::shared_ptr<arrow::Schema> schema,
                                       const OperatorContext& context);

}  // namespace xshards::ops
