// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/stages/explain.h"

#include <utility>

#include "xshards/optimizer/optimizer.h"

namespace xshards {

namespace {

void AppendPlan(const PlanNode& plan, int depth, std::string& out) {
  out.append(static_cast<size_t>(2 * depth + 2), ' ').append(Describe(plan)).append("\n");
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().partitions != nullptr)
    return;
  for (const auto& input : plan.inputs) AppendPlan(*input, depth + 1, out);
}

/// Runs nothing: the planner uses its estimates.
class NoExecution final : public StageExecution {
 public:
  bool runs() const override { return false; }
  arrow::Result<std::shared_ptr<const StageOutput>> Await(StageGraph& /*graph*/,
                                                          int32_t /*stage*/) override {
    return nullptr;
  }
};

}  // namespace

std::string FormatPlan(const PlanNode& plan) {
  std::string text;
  AppendPlan(plan, 0, text);
  return text;
}

arrow::Result<StageGraph> PlanStages(const Plan& optimized,
                                     const Planner::Options& options) {
  NoExecution execution;
  Planner planner(options, execution);
  ARROW_ASSIGN_OR_RAISE(auto trees, planner.Lower(optimized, Storage::kHeap));
  ARROW_RETURN_NOT_OK(planner.Publish(std::move(trees), Storage::kHeap).status());
  return std::move(planner.graph());
}

arrow::Result<std::string> Explain(const Plan& plan, const Planner::Options& options) {
  ARROW_ASSIGN_OR_RAISE(auto optimized, Optimize(plan));
  ARROW_ASSIGN_OR_RAISE(const auto graph, PlanStages(optimized, options));
  return Explain(*plan, *optimized, graph);
}

std::string Explain(const PlanNode& plan, const PlanNode& optimized,
                    const StageGraph& graph, const Profile* profile) {
  const auto stages = FormatStages(graph, profile);
  return "Plan as written\n" + FormatPlan(plan) + "Plan as optimized\n" +
         FormatPlan(optimized) + "Stages\n" +
         (stages.empty() ? "  none: the partitions already exist\n" : stages);
}

}  // namespace xshards
