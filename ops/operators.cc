// SPDX-License-Identifier: Apache-2.0
#include "ops/operators.h"

#include "ops/executors.h"

namespace xshards::ops {

void AddOperators(OperatorTable& table) {
  table.Set(NodeKind::kProject, OpenProject);
  table.Set(NodeKind::kFilter, OpenFilter);
  table.Set(NodeKind::kMapNative, OpenMapNative);
  table.Set(NodeKind::kAggregate, OpenAggregate);
  table.Set(NodeKind::kDistinct, OpenDistinct);
  table.Set(NodeKind::kJoin, OpenJoin);
  table.Set(NodeKind::kSort, OpenSort);
  table.Set(NodeKind::kLimit, OpenLimit);
  table.Set(NodeKind::kSample, OpenSample);
  table.Set(NodeKind::kUnion, OpenUnion);
  table.Set(NodeKind::kZip, OpenZip);
  table.SetSink(SinkKind::kPartition, RunPartitionSink);
}

}  // namespace xshards::ops
