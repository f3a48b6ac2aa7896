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

arrow::Result<Keep> KeepFromName(const std::string& name) {
  if (name == "first") return Keep::kFirst;
  if (name == "last") return Keep::kLast;
  if (name == "none") return Keep::kNone;
  return arrow::Status::Invalid("keep must be 'first', 'last' or 'none', got '", name,
                                "'");
}

bool IsMadeByPosition(const DistinctNode& distinct, const PlanNode& input) {
  return distinct.keep == Keep::kNone || !distinct.keys.empty() || !ReadsFiles(input);
}

}  // namespace xshards
