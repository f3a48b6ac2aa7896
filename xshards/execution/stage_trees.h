// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

// What the executor does to the trees of narrow nodes that a stage runs, one a partition.

bool AllLiteral(const std::vector<Plan>& trees);
/// Trees that read partitions.
std::vector<Plan> ToTrees(const std::vector<Partition>& partitions,
                          const std::shared_ptr<arrow::Schema>& schema);
/// The same with the schema that they have in common, if they have one.
arrow::Result<std::vector<Plan>> ToTrees(const std::vector<Partition>& partitions);
/// Put a node on top of every tree.
std::vector<Plan> Wrap(const NodeVariant& node, const std::vector<Plan>& trees);
/// Trees that each give the rows of so many that follow each other.
std::vector<Plan> InGroups(const std::vector<Plan>& trees, size_t group_size);
/// What trees read, as far as it is known: a bound of what they give, but for nodes that
/// make rows of their own.
int64_t BytesOf(const std::vector<Plan>& trees);
/// True if a column that trees give is held as a dictionary; see encoded_columns.h.
arrow::Result<bool> AnyEncoded(const std::vector<Plan>& trees);
/// Only running a function tells what it gives.
bool IsFunction(const PlanNode& tree);
/// A selection that gives rows of one schema another that is wider.
ProjectNode ToSchema(const arrow::Schema& from, const arrow::Schema& to);
/// What a function returned for a partition is what the next function gets for it, even
/// where other partitions have other columns.
arrow::Result<Plan> AsStored(const Plan& tree);

}  // namespace xshards
