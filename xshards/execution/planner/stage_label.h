// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// Name a stage for the profile and the progress bar: "Scan csv → Filter → partition".
std::string StageLabel(const PlanNode& tree, const SinkSpec& sink);

}  // namespace xshards
