// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"
#include "xshards/storage/block_store.h"

namespace xshards::ops {

// One executor per node kind, each in the .cc of its name. They share the contract of
// OpenNode: opening reads nothing; errors such as an unknown column are reported at
// opening if the input's schema is known, else with the first batch.

using OpenedNode = arrow::Result<std::unique_ptr<BatchStream>>;

/// Computes columns batch by batch; bare column references are forwarded, not copied.
OpenedNode OpenProject(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Filters rows batch by batch, concatenating small outputs to batches of a useful size.
OpenedNode OpenFilter(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Calls a C++ function on the whole partition as one batch.
OpenedNode OpenMapNative(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Groups in a hash table; holds one row per group. As the partial phase of two, it holds
/// a bounded number of groups and may output a group more than once.
OpenedNode OpenAggregate(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Finds distinct rows, or their positions; each phase of the node has an executor.
OpenedNode OpenDistinct(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Holds the right input in memory (the left for a right join) and streams the other.
OpenedNode OpenJoin(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Holds the partition in memory or spills it; stable.
OpenedNode OpenSort(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Draws rows by their global row number; see plan/sampling.h.
OpenedNode OpenSample(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Drops its input as soon as it has enough rows.
OpenedNode OpenLimit(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Concatenates its inputs: each is closed before the next is read.
OpenedNode OpenUnion(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Combines the columns of two inputs of equal length.
OpenedNode OpenZip(const PlanNode&, BatchStreams inputs, OperatorContext&);

/// Sends each row to its destination, in order.
arrow::Status RunPartitionSink(const SinkSpec& spec, BatchStream& input, BlockWriter& out,
                               OperatorContext& context);

}  // namespace xshards::ops
