// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <arrow/result.h>

#include "xshards/execution/planner/planner.h"
#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// The tree of a plan, root first, inputs indented below it.
XSHARDS_EXPORT std::string FormatPlan(const PlanNode& plan);

/// The stages that an optimised plan will run, as far as that is known before it runs.
XSHARDS_EXPORT arrow::Result<StageGraph> PlanStages(const Plan& optimized,
                                                    const Planner::Options& options);

/// The plan as written, as optimised, and its stages.
XSHARDS_EXPORT arrow::Result<std::string> Explain(const Plan& plan,
                                                  const Planner::Options& options);
/// The same for given stages, with their profile if they ran.
XSHARDS_EXPORT std::string Explain(const PlanNode& plan, const PlanNode& optimized,
                                   const StageGraph& graph,
                                   const Profile* profile = nullptr);

}  // namespace xshards
