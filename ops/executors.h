// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/execution/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"
#include "xshards/storage/block_store.h"

namespace xshards::ops {

// One executor a node kind; each lives in the .cc of its name. They share the contract
// of OpenNode: opening reads nothing, and mistakes such as an unknown column are found
// at opening where the input's schema is known, else with the first batch.

using OpenedNode = arrow::Result<std::unique_ptr<BatchStream>>;

/// Computes columns batch by batch; bare columns are passed on, not copied.
OpenedNode OpenProject(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Keeps rows batch by batch, joining small outputs to batches of a useful size.
OpenedNode OpenFilter(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Calls a C++ function on the whole partition as one batch.
OpenedNode OpenMapNative(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Groups in a hash table; holds one row a group. As the partial phase of two, it holds
/// a bounded number of groups and may give a group more than once.
OpenedNode OpenAggregate(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// The phases of an aggregate of positions; see positions.h. The partial one holds a
/// bounded number of keys, the final one all of its partition.
OpenedNode OpenLocalPositions(const PlanNode&, BatchStreams inputs, OperatorContext&);
OpenedNode OpenFinalPositions(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Holds the right input (the left for a right join) and streams the other.
OpenedNode OpenJoin(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Holds the partition; stable.
OpenedNode OpenSort(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Draws rows by their number in the whole; see plan/sampling.h.
OpenedNode OpenSample(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Drops its input as soon as it has enough rows.
OpenedNode OpenLimit(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Gives the rows of each input after those of the one before, which is closed then.
OpenedNode OpenUnion(const PlanNode&, BatchStreams inputs, OperatorContext&);
/// Puts the columns of two inputs of equal length side by side.
OpenedNode OpenZip(const PlanNode&, BatchStreams inputs, OperatorContext&);

/// Sends each row to its destination, in order.
arrow::Status RunPartitionSink(const SinkSpec& spec, BatchStream& input, BlockWriter& out,
                               OperatorContext& context);

}  // namespace xshards::ops
