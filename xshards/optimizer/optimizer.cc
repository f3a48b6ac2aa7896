// SPDX-License-Identifier: Apache-2.0
#include "xshards/optimizer/optimizer.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace xshards {

namespace {

using Rule = arrow::Result<Plan> (*)(const Plan&);

/// A filled Cache is data: what made it is no longer looked at.
bool IsFilledCache(const PlanNode& node) {
  return node.kind() == NodeKind::kCache && node.as<CacheNode>().cell->Get().has_value();
}

/// Apply a rule to every input of a node; the same node if nothing changed.
arrow::Result<Plan> RewriteInputs(const Plan& plan, Rule rule) {
  if (IsFilledCache(*plan)) return plan;
  std::vector<Plan> inputs;
  for (const auto& input : plan->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto rewritten, rule(input));
    inputs.push_back(std::move(rewritten));
  }
  if (inputs == plan->inputs) return plan;
  return MakeNode(plan->node, std::move(inputs));
}

std::vector<std::pair<std::string, Expression>> Definitions(const ProjectNode& project) {
  std::vector<std::pair<std::string, Expression>> definitions;
  for (size_t i = 0; i < project.names.size(); ++i) {
    definitions.emplace_back(project.names[i], project.expressions[i]);
  }
  return definitions;
}

Expression And(const std::optional<Expression>& left, const Expression& right) {
  return left ? *left && right : right;
}

/// True unless every call in it gives a value for any input. One that can fail (a cast,
/// say) must not see rows that an earlier filter takes away.
bool CanFail(const arrow::compute::Expression& expression) {
  static const std::set<std::string> kNeverFail = {
      "add",       "subtract",   "multiply", "divide",        "negate",    "equal",
      "less",      "less_equal", "greater",  "greater_equal", "not_equal", "and_kleene",
      "or_kleene", "invert",     "is_null",  "is_in"};
  const auto* call = expression.call();
  if (call == nullptr) return false;
  return !kNeverFail.contains(call->function_name) ||
         std::any_of(call->arguments.begin(), call->arguments.end(), CanFail);
}

bool DefinesAll(const ProjectNode& project, const std::vector<std::string>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return std::find(project.names.begin(), project.names.end(), column) !=
           project.names.end();
  });
}

arrow::Result<bool> HaveSameSchema(const std::vector<Plan>& plans) {
  ARROW_ASSIGN_OR_RAISE(auto first, OutputSchema(*plans[0]));
  if (first == nullptr) return false;
  for (const auto& plan : plans) {
    ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*plan));
    if (schema == nullptr || schema->num_fields() != first->num_fields()) return false;
    // Dtypes, too: a predicate means the same to all only if they are the same.
    for (int i = 0; i < first->num_fields(); ++i) {
      if (!schema->field(i)->Equals(*first->field(i), /*check_metadata=*/true)) {
        return false;
      }
    }
  }
  return true;
}

/// Push one filter below `input` as far as it goes.
arrow::Result<Plan> PlaceFilter(const Expression& predicate, const Plan& input) {
  switch (input->kind()) {
    case NodeKind::kProject: {
      const auto& project = input->as<ProjectNode>();
      // A column it does not define is a mistake that must not reach what is below.
      if (project.keep_input || !DefinesAll(project, predicate.Columns())) break;
      ARROW_ASSIGN_OR_RAISE(
          auto below,
          PlaceFilter(predicate.Substitute(Definitions(project)), input->inputs[0]));
      return MakeNode(input->node, {std::move(below)});
    }
    case NodeKind::kFilter: {
      if (CanFail(predicate.arrow())) break;
      ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(predicate, input->inputs[0]));
      return MakeNode(input->node, {std::move(below)});
    }
    // These move or order whole rows, so that fewer rows may be moved.
    case NodeKind::kExchange:
      // A balanced exchange places rows by their number: filtering first changes that.
      if (input->as<ExchangeNode>().mode == ExchangeMode::kRoundRobin) break;
      [[fallthrough]];
    case NodeKind::kSort: {
      // Which rows are the first depends on what is filtered away before.
      if (input->kind() == NodeKind::kSort && input->as<SortNode>().limit) break;
      ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(predicate, input->inputs[0]));
      return MakeNode(input->node, {std::move(below)});
    }
    case NodeKind::kUnion: {
      ARROW_ASSIGN_OR_RAISE(bool same, HaveSameSchema(input->inputs));
      if (!same) break;
      std::vector<Plan> inputs;
      for (const auto& branch : input->inputs) {
        ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(predicate, branch));
        inputs.push_back(std::move(below));
      }
      return MakeNode(input->node, std::move(inputs));
    }
    case NodeKind::kScan: {
      auto scan = input->as<ScanNode>();
      scan.filter = And(scan.filter, predicate);
      return MakeNode(FilterNode{predicate}, {MakeNode(std::move(scan))});
    }
    default:
      break;
  }
  return MakeNode(FilterNode{predicate}, {input});
}

/// Push a limit to scans that are reached through selections only.
Plan PlaceLimit(int64_t count, const Plan& input) {
  switch (input->kind()) {
    case NodeKind::kScan: {
      auto scan = input->as<ScanNode>();
      scan.limit = std::min(count, scan.limit.value_or(count));
      return MakeNode(std::move(scan));
    }
    case NodeKind::kLimit:
      return MakeNode(LimitNode{std::min(count, input->as<LimitNode>().count)},
                      {PlaceLimit(count, input->inputs[0])});
    case NodeKind::kProject:
    case NodeKind::kUnion: {
      std::vector<Plan> inputs;
      for (const auto& branch : input->inputs) {
        inputs.push_back(PlaceLimit(count, branch));
      }
      return MakeNode(input->node, std::move(inputs));
    }
    default:
      return input;
  }
}

/// Two selections in a row become one unless that would compute something twice.
std::optional<ProjectNode> Fuse(const ProjectNode& outer, const ProjectNode& inner) {
  if (outer.keep_input || inner.keep_input) return std::nullopt;
  for (const auto& expression : outer.expressions) {
    if (!DefinesAll(inner, expression.Columns())) return std::nullopt;
  }
  for (size_t i = 0; i < inner.names.size(); ++i) {
    if (inner.expressions[i].column_name() != nullptr) continue;
    int uses = 0;
    for (const auto& expression : outer.expressions) {
      const auto columns = expression.Columns();
      uses +=
          static_cast<int>(std::count(columns.begin(), columns.end(), inner.names[i]));
    }
    if (uses > 1) return std::nullopt;
  }
  ProjectNode fused{.names = outer.names, .expressions = {}, .drop = {}};
  for (const auto& expression : outer.expressions) {
    fused.expressions.push_back(expression.Substitute(Definitions(inner)));
  }
  return fused;
}

}  // namespace

arrow::Result<Plan> ExpandProjections(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto rewritten, RewriteInputs(plan, ExpandProjections));
  if (rewritten->kind() != NodeKind::kProject) return rewritten;
  const auto& project = rewritten->as<ProjectNode>();
  if (!project.keep_input) return rewritten;
  ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*rewritten->inputs[0]));
  if (schema == nullptr) return rewritten;
  ARROW_ASSIGN_OR_RAISE(auto expanded, ExpandProject(project, *schema));
  return MakeNode(std::move(expanded), rewritten->inputs);
}

arrow::Result<Plan> PushDownPredicates(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto rewritten, RewriteInputs(plan, PushDownPredicates));
  if (rewritten->kind() != NodeKind::kFilter) return rewritten;
  return PlaceFilter(rewritten->as<FilterNode>().predicate, rewritten->inputs[0]);
}

arrow::Result<Plan> PushDownLimits(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto rewritten, RewriteInputs(plan, PushDownLimits));
  if (rewritten->kind() != NodeKind::kLimit) return rewritten;
  return MakeNode(rewritten->node,
                  {PlaceLimit(rewritten->as<LimitNode>().count, rewritten->inputs[0])});
}

arrow::Result<Plan> KeepBestRows(const Plan& plan) {
  // All that is kept comes together in one partition.
  constexpr int64_t kMaxRows = 100'000;
  ARROW_ASSIGN_OR_RAISE(auto rewritten, RewriteInputs(plan, KeepBestRows));
  if (rewritten->kind() != NodeKind::kLimit) return rewritten;
  const int64_t count = rewritten->as<LimitNode>().count;
  // A selection in between takes nothing away.
  std::vector<Plan> between;
  Plan below = rewritten->inputs[0];
  for (; below->kind() == NodeKind::kProject; below = below->inputs[0]) {
    between.push_back(below);
  }
  if (below->kind() != NodeKind::kSort || count > kMaxRows) return rewritten;
  auto sort = below->as<SortNode>();
  sort.limit = std::min(count, sort.limit.value_or(count));
  Plan best = MakeNode(std::move(sort), below->inputs);
  for (auto it = between.rbegin(); it != between.rend(); ++it) {
    best = MakeNode((*it)->node, {std::move(best)});
  }
  return best;
}

arrow::Result<Plan> FuseNarrowNodes(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto rewritten, RewriteInputs(plan, FuseNarrowNodes));
  if (rewritten->inputs.size() != 1) return rewritten;
  const Plan& input = rewritten->inputs[0];
  if (rewritten->kind() == NodeKind::kFilter && input->kind() == NodeKind::kFilter &&
      !CanFail(rewritten->as<FilterNode>().predicate.arrow())) {
    return MakeNode(FilterNode{input->as<FilterNode>().predicate &&
                               rewritten->as<FilterNode>().predicate},
                    input->inputs);
  }
  if (rewritten->kind() == NodeKind::kProject && input->kind() == NodeKind::kProject) {
    auto fused = Fuse(rewritten->as<ProjectNode>(), input->as<ProjectNode>());
    if (fused) return MakeNode(std::move(*fused), input->inputs);
  }
  return rewritten;
}

const std::vector<OptimizerRule>& OptimizerRules() {
  static const std::vector<OptimizerRule> rules = {
      {.name = "expand projections", .apply = ExpandProjections},
      {.name = "push down predicates", .apply = PushDownPredicates},
      {.name = "push down limits", .apply = PushDownLimits},
      {.name = "keep best rows", .apply = KeepBestRows},
      {.name = "push down projections", .apply = PushDownProjections},
      {.name = "fuse narrow nodes", .apply = FuseNarrowNodes},
      {.name = "keep dictionaries", .apply = KeepDictionaries},
  };
  return rules;
}

arrow::Result<Plan> Optimize(Plan plan) {
  // Also finds unknown columns and type errors before anything runs.
  ARROW_RETURN_NOT_OK(OutputSchema(*plan).status());
  for (const auto& rule : OptimizerRules()) {
    ARROW_ASSIGN_OR_RAISE(plan, rule.apply(plan));
  }
  return plan;
}

}  // namespace xshards
