// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How a node will run and why, as "algorithm: reason"; empty for a node that works row
/// by row. For explain(): what is known before running. What is only found out on the way
/// (the size of a side, say) is told by Executor::Note, in the profile of the stage.
/// `memory_bytes` is the budget.
XSHARDS_EXPORT std::string AlgorithmNote(const PlanNode& node, int64_t memory_bytes);

}  // namespace xshards
