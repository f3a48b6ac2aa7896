// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/support/test_data.h"
#include "xshards/function/native_function.h"
#include "xshards/plan/plan.h"

namespace xshards::testing {

// In every program that includes this, so that a fragment may name it there; once, in
// however many of its files.
inline const bool kFirstThreeRegistered =
    RegisterFunction("first_three", MakeNativeFunction([](const ShardView& shard) {
                       return shard.batch()->Slice(0, 3);
                     }));

inline Plan NumberedLeaf(int64_t rows, int64_t first_id = 0) {
  return MakeNode(
      LiteralNode{.schema = Numbered(0)->schema(),
                  .partitions = {Partition(
                      {BlockStore::FromBatches({Numbered(rows, 7, first_id)})}, 0)}});
}

/// A tree over in-memory data for every node kind that runs in a fragment of this
/// engine alone. (Scans need files, and Python functions the Python package.)
inline std::vector<Plan> FragmentTrees() {
  auto select = [](const std::string& name, const std::string& column) {
    return MakeNode(ProjectNode{.names = {name}, .expressions = {col(column)}},
                    {NumberedLeaf(5)});
  };
  return {
      NumberedLeaf(10),
      MakeNode(ProjectNode{.names = {"x"}, .expressions = {col("id") * lit(2)}},
               {NumberedLeaf(10)}),
      MakeNode(FilterNode{col("key") == lit("κ1")}, {NumberedLeaf(100)}),
      MakeNode(MapNativeNode{.name = "first_three"}, {NumberedLeaf(10)}),
      MakeNode(AggregateNode{.keys = {"key"}, .aggregates = {{"sum", "value", "s"}}},
               {NumberedLeaf(100)}),
      MakeNode(AggregateNode{.keys = {"key"}, .aggregates = {{"count", kAllRows, "n"}}},
               {NumberedLeaf(100)}),
      MakeNode(JoinNode{.left_keys = {"id"}, .right_keys = {"id"}},
               {NumberedLeaf(10), NumberedLeaf(10, 5)}),
      MakeNode(SortNode{.keys = {{"value", false}}}, {NumberedLeaf(50)}),
      MakeNode(LimitNode{4}, {NumberedLeaf(10)}),
      MakeNode(
          SampleNode{
              .seed = 5, .phase = SamplePhase::kDraw, .bound = {uint64_t{1} << 63, 0}},
          {NumberedLeaf(50)}),
      MakeNode(SampleNode{.count = 9,
                          .replace = true,
                          .weights = "id",
                          .seed = 5,
                          .phase = SamplePhase::kDraw,
                          .num_rows = 20,
                          .weight_end = 45,
                          .weight_total = 60},
               {NumberedLeaf(10)}),
      MakeNode(SampleNode{.weights = "id", .phase = SamplePhase::kGiveKeys},
               {NumberedLeaf(10)}),
      MakeNode(ZipNode{}, {select("a", "id"), select("b", "key")}),
  };
}

}  // namespace xshards::testing
