// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/export.h"

namespace xshards::ops {

/// Register the executors of this folder: Project, Filter, MapNative, Aggregate, Join,
/// Sort, Limit, Zip, and the sink that moves rows between partitions.
XSHARDS_EXPORT void AddOperators(OperatorTable& table);

}  // namespace xshards::ops
