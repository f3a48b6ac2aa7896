// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// The tree of a plan, root first, inputs indented below it.
XSHARDS_EXPORT std::string FormatPlan(const PlanNode& plan);
/// The stages a plan is cut into, in the order they run, as far as that is known before
/// it runs. `memory_bytes` is the budget, here and below.
XSHARDS_EXPORT std::string FormatStages(const PlanNode& plan, int64_t memory_bytes);
/// How each of a plan's wide nodes runs and why, in the order they run; empty if none.
XSHARDS_EXPORT std::string FormatAlgorithms(const PlanNode& plan, int64_t memory_bytes);
/// The plan as written, as optimized, its stages and its algorithms.
XSHARDS_EXPORT arrow::Result<std::string> Explain(const Plan& plan, int64_t memory_bytes);

}  // namespace xshards
