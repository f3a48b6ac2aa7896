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

/// True for a node that reads existing partitions or the output of a stage.
bool IsLeaf(const PlanNode& tree);
/// Trees that read partitions.
std::vector<Plan> ToTrees(const std::vector<Partition>& partitions,
                          const std::shared_ptr<arrow::Schema>& schema);
/// The same with their common schema, if there is one.
arrow::Result<std::vector<Plan>> ToTrees(const std::vector<Partition>& partitions);
/// A leaf that reads the partitions of two leaves of one stage.
Plan Merged(StageInputNode first, const StageInputNode& second);
/// Add a node on top of every tree.
std::vector<Plan> Wrap(const NodeVariant& node, const std::vector<Plan>& trees);
/// Trees that each concatenate the rows of `group_size` adjacent trees.
std::vector<Plan> InGroups(const std::vector<Plan>& trees, size_t group_size);
/// True if an output column of trees is dictionary-encoded; see
/// types/dictionary_encoding.h.
arrow::Result<bool> AnyEncoded(const std::vector<Plan>& trees);
/// True if the output schema is unknown until a function has run.
bool IsFunction(const PlanNode& tree);
/// A selection that casts rows of one schema to a wider one.
ProjectNode ToSchema(const arrow::Schema& from, const arrow::Schema& to);
/// A function's output for a partition is the next function's input, even if other
/// partitions have other columns.
arrow::Result<Plan> AsStored(const Plan& tree);

}  // namespace xshards
