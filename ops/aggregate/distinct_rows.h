// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/executors.h"
#include "xshards/plan/plan.h"

namespace xshards::ops {

/// The phases kPartialRows and kFinalRows of a Distinct: its keys, which are all columns,
/// are grouped as those of an ordered Aggregate of no functions, spilling included. With
/// Keep::kLast groups come in order of last appearance, and do not spill.
OpenedNode OpenDistinctRows(const DistinctNode& distinct, BatchStreams inputs,
                            OperatorContext& context);

}  // namespace xshards::ops
