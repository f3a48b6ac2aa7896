// SPDX-License-Identifier: Apache-2.0
// Planner::LowerLimit: a few partitions at a time, until there are enough rows.
#include <algorithm>
#include <utility>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/planner.h"

namespace xshards {

arrow::Result<Trees> Planner::LowerLimit(const Plan& plan, Storage storage) {
  int64_t wanted = plan->as<LimitNode>().count;
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  Note(ChooseAlgorithm(*plan));
  Trees kept;
  // In order: most limits need only the first partitions.
  const auto wave = static_cast<size_t>(options_.cores);
  for (size_t begin = 0; begin < trees.size() && (wanted > 0 || begin == 0);
       begin += wave) {
    const size_t end = std::min(begin + wave, trees.size());
    const Trees some(trees.begin() + static_cast<std::ptrdiff_t>(begin),
                     trees.begin() + static_cast<std::ptrdiff_t>(end));
    ARROW_ASSIGN_OR_RAISE(auto first, Publish(Wrap(LimitNode{wanted}, some), storage));
    ARROW_ASSIGN_OR_RAISE(first, Observe(first, Decision::kWhetherRowsSuffice));
    ARROW_ASSIGN_OR_RAISE(const auto partitions, PartitionsOf(first));
    if (!partitions.has_value()) return first;
    for (size_t i = 0; i < first.size() && (wanted > 0 || kept.empty()); ++i) {
      const int64_t rows = (*partitions)[i].num_rows();
      kept.push_back(rows <= wanted ? first[i] : MakeNode(LimitNode{wanted}, {first[i]}));
      wanted -= std::min(rows, wanted);
    }
  }
  return kept;
}

}  // namespace xshards
