// SPDX-License-Identifier: Apache-2.0
#include "xshards/optimizer/optimizer.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "xshards/expression/expression_graph.h"

namespace xshards {

namespace {

using Rule = arrow::Result<Plan> (*)(const Plan&);

/// An expression that a loop has built stays in pieces of this size, each computed by a
/// Project of its own: planning is linear in their number, and no walk gets deep.
constexpr int64_t kMaxFusedCalls = 256;

/// A filled Cache is data: the plan below it is ignored.
bool IsFilledCache(const PlanNode& node) {
  return node.kind() == NodeKind::kCache && node.as<CacheNode>().partitions != nullptr;
}

/// Apply a rule to every input of a node; the same node if nothing changed.
arrow::Result<Plan> RewriteInputs(const Plan& plan, Rule rule) {
  if (IsFilledCache(*plan)) return plan;
  std::vector<Plan> inputs;
  for (const auto& input : plan->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto rewritten, rule(input));
    inputs.push_back(std::move(rewritten));
  }
  return WithInputs(plan, std::move(inputs));
}

Expression::Replacements Definitions(const ProjectNode& project) {
  Expression::Replacements definitions;
  for (size_t i = 0; i < project.names.size(); ++i) {
    definitions.emplace(project.names[i], project.expressions[i]);
  }
  return definitions;
}

Expression And(const std::optional<Expression>& left, const Expression& right) {
  return left ? *left && right : right;
}

/// True unless every call in it succeeds for any input. One that can fail (a cast, say)
/// must not see rows that an earlier filter removes.
bool CanFail(const arrow::compute::Expression& expression) {
  static const std::set<std::string> kNeverFail = {
      "add",       "subtract",   "multiply", "divide",        "negate",    "equal",
      "less",      "less_equal", "greater",  "greater_equal", "not_equal", "and_kleene",
      "or_kleene", "invert",     "is_null",  "is_in"};
  bool can_fail = false;
  ForEachCall(expression, [&](const arrow::compute::Expression& part) {
    can_fail = can_fail || !kNeverFail.contains(part.call()->function_name);
  });
  return can_fail;
}

bool DefinesAll(const Expression::Replacements& definitions,
                const std::vector<std::string>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return definitions.contains(column);
  });
}

arrow::Result<bool> HaveSameSchema(const std::vector<Plan>& plans) {
  ARROW_ASSIGN_OR_RAISE(auto first, OutputSchema(*plans[0]));
  if (first == nullptr) return false;
  for (const auto& plan : plans) {
    ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*plan));
    if (schema == nullptr || schema->num_fields() != first->num_fields()) return false;
    // Dtypes too: a predicate has the same meaning in all branches only if they are
    // equal.
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
      if (project.keep_input) break;
      const auto definitions = Definitions(project);
      // A reference to a column it does not define is an error and must not be pushed
      // down.
      if (!DefinesAll(definitions, predicate.Columns())) break;
      const auto substituted = predicate.Substitute(definitions);
      if (NumCalls(substituted.arrow()) > kMaxFusedCalls) break;
      ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(substituted, input->inputs[0]));
      return WithInputs(input, {std::move(below)});
    }
    case NodeKind::kFilter: {
      if (CanFail(predicate.arrow())) break;
      ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(predicate, input->inputs[0]));
      return WithInputs(input, {std::move(below)});
    }
    // These move or sort rows: filter first, so that fewer rows are moved.
    case NodeKind::kExchange:
      // A balanced exchange places rows by row number, which filtering first would
      // change.
      if (input->as<ExchangeNode>().mode == ExchangeMode::kRoundRobin) break;
      [[fallthrough]];
    case NodeKind::kSort: {
      // Which rows are first depends on the rows filtered out before.
      if (input->kind() == NodeKind::kSort && input->as<SortNode>().limit) break;
      ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(predicate, input->inputs[0]));
      return WithInputs(input, {std::move(below)});
    }
    case NodeKind::kUnion: {
      ARROW_ASSIGN_OR_RAISE(bool same, HaveSameSchema(input->inputs));
      if (!same) break;
      std::vector<Plan> inputs;
      for (const auto& branch : input->inputs) {
        ARROW_ASSIGN_OR_RAISE(auto below, PlaceFilter(predicate, branch));
        inputs.push_back(std::move(below));
      }
      return WithInputs(input, std::move(inputs));
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
      return WithInputs(input, std::move(inputs));
    }
    default:
      return input;
  }
}

/// True if more than one expression of `outer` reads a column that `inner` computes.
bool ComputesTwice(const ProjectNode& outer, const Expression::Replacements& inner) {
  std::unordered_set<std::string> used;
  for (const auto& expression : outer.expressions) {
    for (const auto& column : expression.Columns()) {
      const bool computed = inner.at(column).column_name() == nullptr;
      if (computed && !used.insert(column).second) return true;
    }
  }
  return false;
}

/// Two selections in a row become one unless that would compute something twice.
std::optional<ProjectNode> Fuse(const ProjectNode& outer, const ProjectNode& inner) {
  if (outer.keep_input || inner.keep_input) return std::nullopt;
  const auto definitions = Definitions(inner);
  for (const auto& expression : outer.expressions) {
    if (!DefinesAll(definitions, expression.Columns())) return std::nullopt;
  }
  if (ComputesTwice(outer, definitions)) return std::nullopt;
  ProjectNode fused{.names = outer.names, .expressions = {}, .drop = {}};
  for (const auto& expression : outer.expressions) {
    fused.expressions.push_back(expression.Substitute(definitions));
    if (NumCalls(fused.expressions.back().arrow()) > kMaxFusedCalls) return std::nullopt;
  }
  return fused;
}

/// Two filters or two selections as one; nullopt to leave them as they are.
std::optional<NodeVariant> Fuse(const NodeVariant& outer, const NodeVariant& inner) {
  if (const auto* filter = std::get_if<FilterNode>(&outer)) {
    if (CanFail(filter->predicate.arrow())) return std::nullopt;
    return FilterNode{std::get<FilterNode>(inner).predicate && filter->predicate};
  }
  return Fuse(std::get<ProjectNode>(outer), std::get<ProjectNode>(inner));
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
  // All kept rows are gathered in one partition.
  constexpr int64_t kMaxRows = 100'000;
  ARROW_ASSIGN_OR_RAISE(auto rewritten, RewriteInputs(plan, KeepBestRows));
  if (rewritten->kind() != NodeKind::kLimit) return rewritten;
  const int64_t count = rewritten->as<LimitNode>().count;
  // A selection in between removes no rows.
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
    best = WithInputs(*it, {std::move(best)});
  }
  return best;
}

arrow::Result<Plan> FuseNarrowNodes(const Plan& plan) {
  const NodeKind kind = plan->kind();
  if (kind != NodeKind::kFilter && kind != NodeKind::kProject) {
    return RewriteInputs(plan, FuseNarrowNodes);
  }
  // Nodes are made only of what cannot be fused further: making one compiles it.
  std::vector<Plan> chain;
  Plan below = plan;
  for (; below->kind() == kind; below = below->inputs[0]) chain.push_back(below);
  ARROW_ASSIGN_OR_RAISE(below, FuseNarrowNodes(below));
  Plan written = chain.back();  // the node that `lower` is, nullptr if it is fused
  NodeVariant lower = written->node;
  const auto make_lower = [&] {
    return written == nullptr ? MakeNode(std::move(lower), {std::move(below)})
                              : WithInputs(written, {std::move(below)});
  };
  for (auto upper = chain.rbegin() + 1; upper != chain.rend(); ++upper) {
    auto fused = Fuse((*upper)->node, lower);
    if (!fused) below = make_lower();
    written = fused ? nullptr : *upper;
    lower = fused ? *std::move(fused) : (*upper)->node;
  }
  return make_lower();
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

arrow::Result<Plan> Optimize(Plan plan, const arrow::StopToken& stop) {
  // Also finds unknown columns and type errors before anything runs.
  ARROW_RETURN_NOT_OK(OutputSchema(*plan).status());
  for (const auto& rule : OptimizerRules()) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(plan, rule.apply(plan));
  }
  return plan;
}

}  // namespace xshards
