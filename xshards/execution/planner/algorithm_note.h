// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How a node runs and why, as "algorithm: reason"; empty for a narrow node, and for a
/// join, whose algorithm depends on the size of its sides.
XSHARDS_EXPORT std::string AlgorithmNote(const PlanNode& node);

}  // namespace xshards
