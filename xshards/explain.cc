// SPDX-License-Identifier: Apache-2.0
#include "xshards/explain.h"

#include <utility>
#include <vector>

#include "xshards/algorithm_note.h"
#include "xshards/fragment.h"
#include "xshards/optimizer.h"

namespace xshards {

namespace {

void AppendPlan(const PlanNode& plan, int depth, std::string& out) {
  out.append(static_cast<size_t>(2 * depth + 2), ' ').append(Describe(plan)).append("\n");
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().cell->Get()) return;
  for (const auto& input : plan.inputs) AppendPlan(*input, depth + 1, out);
}

void AppendAlgorithms(const PlanNode& plan, std::string& out) {
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().cell->Get()) return;
  for (const auto& input : plan.inputs) AppendAlgorithms(*input, out);
  const auto note = AlgorithmNote(plan);
  if (!note.empty())
    out.append("  ").append(Describe(plan)).append("\n    " + note + "\n");
}

/// Follows the executor's cuts without running anything.
class StageList {
 public:
  /// The steps of the stage in which `plan`'s rows come out; earlier stages are listed.
  std::vector<std::string> Visit(const PlanNode& plan) {
    if (plan.kind() == NodeKind::kCache) return VisitCache(plan);
    std::vector<std::string> steps;
    for (const auto& input : plan.inputs) {
      auto more = Visit(*input);
      if (IsWide(plan.kind())) {
        const int number = Close(std::move(more), WideStep(plan));
        steps.push_back("read stage " + std::to_string(number));
      } else {
        steps.insert(steps.end(), more.begin(), more.end());
      }
    }
    switch (plan.kind()) {
      case NodeKind::kExchange:
        return steps;
      case NodeKind::kAggregate:
        steps.push_back("Aggregate (final)");
        return steps;
      default:
        steps.push_back(Describe(plan));
        return steps;
    }
  }

  int Close(std::vector<std::string> steps, const std::string& last) {
    if (!last.empty()) steps.push_back(last);
    std::string line = "  stage " + std::to_string(++count_) + ": ";
    for (size_t i = 0; i < steps.size(); ++i) line += (i > 0 ? " → " : "") + steps[i];
    for (const auto& step : steps) {
      const bool in_workers = step.ends_with(", in worker processes)");
      if (step.starts_with("MapPython") && in_workers) line += "   [processes]";
    }
    text_ += line + "\n";
    return count_;
  }

  std::string text() && { return std::move(text_); }

 private:
  std::vector<std::string> VisitCache(const PlanNode& plan) {
    if (plan.as<CacheNode>().cell->Get()) return {"read cached partitions"};
    const int number = Close(Visit(*plan.inputs[0]), "keep");
    return {"read stage " + std::to_string(number)};
  }

  static bool IsWide(NodeKind kind) {
    return kind == NodeKind::kExchange || kind == NodeKind::kAggregate ||
           kind == NodeKind::kJoin || kind == NodeKind::kSort ||
           kind == NodeKind::kSample;
  }

  static std::string WideStep(const PlanNode& plan) {
    switch (plan.kind()) {
      case NodeKind::kExchange:
        return Describe(plan);
      case NodeKind::kAggregate: {
        auto partial = plan.as<AggregateNode>();
        partial.phase = AggregatePhase::kPartial;
        return Describe({.node = partial, .inputs = {}}) +
               (partial.ordered || partial.keys.empty() ? " → gather"
                                                        : " → exchange by hash of keys");
      }
      case NodeKind::kSample:
        return "keep";
      case NodeKind::kJoin:
        return "exchange by hash of keys";
      default:
        return "exchange by range of keys";
    }
  }

  int count_ = 0;
  std::string text_;
};

}  // namespace

std::string FormatPlan(const PlanNode& plan) {
  std::string text;
  AppendPlan(plan, 0, text);
  return text;
}

std::string FormatStages(const PlanNode& plan) {
  StageList stages;
  stages.Close(stages.Visit(plan), "");
  return std::move(stages).text();
}

std::string FormatAlgorithms(const PlanNode& plan) {
  std::string text;
  AppendAlgorithms(plan, text);
  return text;
}

arrow::Result<std::string> Explain(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto optimized, Optimize(plan));
  const auto algorithms = FormatAlgorithms(*optimized);
  return "Plan as written\n" + FormatPlan(*plan) + "Plan as optimized\n" +
         FormatPlan(*optimized) + "Stages\n" + FormatStages(*optimized) +
         (algorithms.empty() ? "" : "Algorithms\n" + algorithms);
}

}  // namespace xshards
