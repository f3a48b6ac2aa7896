// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// A rewrite of a plan into one that gives the same rows for less work.
struct OptimizerRule {
  const char* name;
  arrow::Result<Plan> (*apply)(const Plan& plan);
};

/// Expand projections that keep all input columns, if the input's schema is known.
XSHARDS_EXPORT arrow::Result<Plan> ExpandProjections(const Plan& plan);
/// Move filters towards the scans, through nodes that do not change what they test, and
/// pass to the scans what can be skipped.
XSHARDS_EXPORT arrow::Result<Plan> PushDownPredicates(const Plan& plan);
/// Move limits towards the scans.
XSHARDS_EXPORT arrow::Result<Plan> PushDownLimits(const Plan& plan);
/// Turn sort + limit into a top-N plan, which holds and moves at most N rows of each
/// partition.
XSHARDS_EXPORT arrow::Result<Plan> KeepBestRows(const Plan& plan);
/// Read only the columns that are used.
XSHARDS_EXPORT arrow::Result<Plan> PushDownProjections(const Plan& plan);
/// Merge neighbouring narrow nodes: filters into one, selections into one.
XSHARDS_EXPORT arrow::Result<Plan> FuseNarrowNodes(const Plan& plan);

/// Read text as dictionaries, as files store it, where it stays in the engine: below
/// nodes that move, group or store rows, but not if a function or the caller gets the
/// rows next.
XSHARDS_EXPORT arrow::Result<Plan> KeepDictionaries(const Plan& plan);

/// All rules, in the order they are applied.
XSHARDS_EXPORT const std::vector<OptimizerRule>& OptimizerRules();

/// Apply all rules; `stop` is polled before each.
XSHARDS_EXPORT arrow::Result<Plan> Optimize(
    Plan plan, const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

}  // namespace xshards
