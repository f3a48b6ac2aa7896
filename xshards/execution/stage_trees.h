// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// The work for each partition of a stage, without a sink: trees of narrow nodes.
using Trees = std::vector<Plan>;

/// True for what reads partitions that exist or that a stage makes.
bool IsLeaf(const PlanNode& tree);
/// Trees that read partitions.
std::vector<Plan> ToTrees(const std::vector<Partition>& partitions,
                          const std::shared_ptr<arrow::Schema>& schema);
/// The same with the schema that they have in common, if they have one.
arrow::Result<std::vector<Plan>> ToTrees(const std::vector<Partition>& partitions);
/// A leaf that reads the partitions of two, which are of one stage.
Plan Merged(StageInputNode first, const StageInputNode& second);
/// Put a node on top of every tree.
std::vector<Plan> Wrap(const NodeVariant& node, const std::vector<Plan>& trees);
/// Trees that each give the rows of `group_size` neighbours.
std::vector<Plan> InGroups(const std::vector<Plan>& trees, size_t group_size);
/// True if a column that trees give is held as a dictionary; see
/// types/dictionary_encoding.h.
arrow::Result<bool> AnyEncoded(const std::vector<Plan>& trees);
/// Only running a function tells what it gives.
bool IsFunction(const PlanNode& tree);
/// A selection that gives rows of one schema another that is wider.
ProjectNode ToSchema(const arrow::Schema& from, const arrow::Schema& to);
/// What a function returned for a partition is what the next function gets for it, even
/// where other partitions have other columns.
arrow::Result<Plan> AsStored(const Plan& tree);

}  // namespace xshards
