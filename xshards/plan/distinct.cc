// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/distinct.h"

#include <algorithm>

namespace xshards {

namespace {

bool ReadsFiles(const PlanNode& plan) {
  switch (plan.kind()) {
    case NodeKind::kScan:
      return true;
    case NodeKind::kProject:
    case NodeKind::kFilter:
    case NodeKind::kUnion:
      return std::any_of(plan.inputs.begin(), plan.inputs.end(),
                         [](const Plan& input) { return ReadsFiles(*input); });
    default:
      return false;
  }
}

}  // namespace

bool KeepsRows(const AggregateNode& aggregate) {
  const char* pick = aggregate.by_last ? "last_row" : "first_row";
  return aggregate.ordered && aggregate.phase == AggregatePhase::kComplete &&
         (aggregate.all_columns || !aggregate.keys.empty()) &&
         std::all_of(aggregate.aggregates.begin(), aggregate.aggregates.end(),
                     [&](const auto& one) {
                       return one.function == pick && one.column == one.output;
                     });
}

bool IsMadeByPosition(const AggregateNode& aggregate, const PlanNode& input) {
  return KeepsRows(aggregate) &&
         (aggregate.single || !aggregate.aggregates.empty() || !ReadsFiles(input));
}

}  // namespace xshards
