// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ops/aggregate/distinct_rows.h"
#include "ops/distinct/positions.h"
#include "ops/executors.h"

namespace xshards::ops {

OpenedNode OpenDistinct(const PlanNode& node, BatchStreams inputs,
                        OperatorContext& context) {
  const auto& distinct = node.as<DistinctNode>();
  switch (distinct.phase) {
    case DistinctPhase::kPartialRows:
    case DistinctPhase::kFinalRows:
      return OpenDistinctRows(distinct, std::move(inputs), context);
    case DistinctPhase::kPartialPositions:
      return OpenPartialPositions(node, std::move(inputs), context);
    case DistinctPhase::kFinalPositions:
      return OpenFinalPositions(node, std::move(inputs), context);
    case DistinctPhase::kWhole:
      break;
  }
  return arrow::Status::Invalid("Expected one phase of a Distinct in a fragment, got ",
                                Describe(node));
}

}  // namespace xshards::ops
