// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/explain.h"

#include <utility>
#include <vector>

#include "xshards/execution/algorithm_note.h"
#include "xshards/execution/join_strategy.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/plan/distinct.h"
#include "xshards/plan/partitioning.h"

namespace xshards {

namespace {

void AppendPlan(const PlanNode& plan, int depth, std::string& out) {
  out.append(static_cast<size_t>(2 * depth + 2), ' ').append(Describe(plan)).append("\n");
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().cell->Get()) return;
  for (const auto& input : plan.inputs) AppendPlan(*input, depth + 1, out);
}

void AppendAlgorithms(const PlanNode& plan, int64_t memory_bytes, std::string& out) {
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().cell->Get()) return;
  for (const auto& input : plan.inputs) AppendAlgorithms(*input, memory_bytes, out);
  const auto note = AlgorithmNote(plan, memory_bytes);
  if (!note.empty())
    out.append("  ").append(Describe(plan)).append("\n    " + note + "\n");
}

/// Follows the executor's cuts without running anything.
class StageList {
 public:
  explicit StageList(int64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  /// The steps of the stage in which `plan`'s rows come out; earlier stages are listed.
  std::vector<std::string> Visit(const PlanNode& plan) {
    if (plan.kind() == NodeKind::kCache) return VisitCache(plan);
    if (plan.kind() == NodeKind::kJoin) return VisitJoin(plan);
    if (IsInPlace(plan)) return VisitInPlace(plan);
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

  std::vector<std::string> VisitJoin(const PlanNode& plan) {
    const auto choice = ForeseeJoin(plan, memory_bytes_);
    const size_t held = choice.build_left ? 0 : 1;
    std::vector<std::string> steps;
    for (size_t i = 0; i < 2; ++i) {
      auto more = Visit(*plan.inputs[i]);
      if (choice.hold_all && i != held) {
        steps.insert(steps.end(), more.begin(), more.end());
        continue;
      }
      const int number =
          Close(std::move(more), choice.hold_all ? "hold" : "exchange by hash of keys");
      steps.push_back("read stage " + std::to_string(number));
    }
    steps.push_back(Describe(plan));
    return steps;
  }

  /// True for a wide node whose rows need not move.
  static bool IsInPlace(const PlanNode& plan) {
    if (plan.kind() == NodeKind::kExchange) {
      return MovesNothing(plan.as<ExchangeNode>(), *plan.inputs[0]);
    }
    return plan.kind() == NodeKind::kAggregate &&
           GroupsInPlace(plan.as<AggregateNode>(), *plan.inputs[0]);
  }

  std::vector<std::string> VisitInPlace(const PlanNode& plan) {
    auto steps = Visit(*plan.inputs[0]);
    if (plan.kind() == NodeKind::kAggregate) steps.push_back(Describe(plan));
    return steps;
  }

  static bool IsWide(NodeKind kind) {
    return kind == NodeKind::kExchange || kind == NodeKind::kAggregate ||
           kind == NodeKind::kSort || kind == NodeKind::kSample;
  }

  static std::string WideStep(const PlanNode& plan) {
    switch (plan.kind()) {
      case NodeKind::kExchange:
        return Describe(plan);
      case NodeKind::kAggregate: {
        if (IsMadeByPosition(plan.as<AggregateNode>(), *plan.inputs[0])) {
          return "exchange positions by hash of keys";
        }
        auto partial = plan.as<AggregateNode>();
        partial.phase = AggregatePhase::kPartial;
        return Describe({.node = partial, .inputs = {}}) +
               (partial.ordered || partial.keys.empty() ? " → gather"
                                                        : " → exchange by hash of keys");
      }
      case NodeKind::kSample:
        return "keep";
      default:
        return plan.as<SortNode>().limit ? Describe(plan) + " → gather"
                                         : "exchange by range of keys";
    }
  }

  const int64_t memory_bytes_;
  int count_ = 0;
  std::string text_;
};

}  // namespace

std::string FormatPlan(const PlanNode& plan) {
  std::string text;
  AppendPlan(plan, 0, text);
  return text;
}

std::string FormatStages(const PlanNode& plan, int64_t memory_bytes) {
  StageList stages(memory_bytes);
  stages.Close(stages.Visit(plan), "");
  return std::move(stages).text();
}

std::string FormatAlgorithms(const PlanNode& plan, int64_t memory_bytes) {
  std::string text;
  AppendAlgorithms(plan, memory_bytes, text);
  return text;
}

arrow::Result<std::string> Explain(const Plan& plan, int64_t memory_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto optimized, Optimize(plan));
  const auto algorithms = FormatAlgorithms(*optimized, memory_bytes);
  return "Plan as written\n" + FormatPlan(*plan) + "Plan as optimized\n" +
         FormatPlan(*optimized) + "Stages\n" + FormatStages(*optimized, memory_bytes) +
         (algorithms.empty() ? "" : "Algorithms\n" + algorithms);
}

}  // namespace xshards
