// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression_graph.h"

#include <unordered_map>
#include <utility>

#include <arrow/type.h>

namespace xshards {

namespace cp = arrow::compute;

namespace {

/// What takes the place of each call.
using Rebuilt = std::unordered_map<const ArrowCall*, cp::Expression>;

cp::Expression RebuildCall(
    const ArrowCall& call, const Rebuilt& calls,
    const std::function<cp::Expression(const cp::Expression&)>& leaf, bool* changed) {
  std::vector<cp::Expression> arguments;
  arguments.reserve(call.arguments.size());
  for (const auto& argument : call.arguments) {
    const auto* inner = argument.call();
    arguments.push_back(inner != nullptr ? calls.at(inner) : leaf(argument));
    *changed = *changed || !cp::Expression::Identical(arguments.back(), argument);
  }
  return cp::call(call.function_name, std::move(arguments), call.options);
}

std::string UnusedPrefix(const cp::Expression& expression) {
  std::string prefix = "#";
  for (const std::string& name : Expression(expression).Columns()) {
    while (name.starts_with(prefix)) prefix += '#';
  }
  return prefix;
}

}  // namespace

void ForEachCall(const cp::Expression& expression,
                 const std::function<void(const cp::Expression&)>& visit) {
  if (expression.call() == nullptr) return;
  struct Step {
    const cp::Expression* expression;
    size_t next_argument = 0;
  };
  // A stack of our own: expressions that a loop has built are deep.
  std::vector<Step> stack = {{.expression = &expression}};
  std::unordered_set<const ArrowCall*> seen = {expression.call()};
  while (!stack.empty()) {
    Step& step = stack.back();
    const auto& arguments = step.expression->call()->arguments;
    if (step.next_argument == arguments.size()) {
      visit(*step.expression);
      stack.pop_back();
      continue;
    }
    const cp::Expression& argument = arguments[step.next_argument++];
    if (argument.call() != nullptr && seen.insert(argument.call()).second) {
      stack.push_back({.expression = &argument});
    }
  }
}

std::unordered_set<const ArrowCall*> SharedCalls(const cp::Expression& expression) {
  std::unordered_set<const ArrowCall*> used;
  std::unordered_set<const ArrowCall*> shared;
  ForEachCall(expression, [&](const cp::Expression& part) {
    for (const auto& argument : part.call()->arguments) {
      const auto* call = argument.call();
      if (call != nullptr && !used.insert(call).second) shared.insert(call);
    }
  });
  return shared;
}

int64_t NumCalls(const cp::Expression& expression) {
  int64_t count = 0;
  ForEachCall(expression, [&](const cp::Expression&) { ++count; });
  return count;
}

double NumWrittenCalls(const cp::Expression& expression) {
  std::unordered_map<const ArrowCall*, double> sizes = {{nullptr, 0.0}};
  ForEachCall(expression, [&](const cp::Expression& part) {
    double size = 1;
    for (const auto& argument : part.call()->arguments) size += sizes.at(argument.call());
    sizes.emplace(part.call(), size);
  });
  return sizes.at(expression.call());
}

cp::Expression ReplaceColumns(
    const cp::Expression& expression,
    const std::function<const cp::Expression*(const std::string&)>& replace) {
  const auto leaf = [&](const cp::Expression& part) {
    const arrow::FieldRef* reference = part.field_ref();
    const auto* other = reference == nullptr || reference->name() == nullptr
                            ? nullptr
                            : replace(*reference->name());
    return other == nullptr ? part : *other;
  };
  if (expression.call() == nullptr) return leaf(expression);
  Rebuilt calls;
  ForEachCall(expression, [&](const cp::Expression& part) {
    bool changed = false;
    auto rebuilt = RebuildCall(*part.call(), calls, leaf, &changed);
    if (!changed) rebuilt = part;
    calls.emplace(part.call(), std::move(rebuilt));
  });
  return calls.at(expression.call());
}

ExpressionTrees SplitSharedParts(const cp::Expression& expression) {
  const auto shared = SharedCalls(expression);
  if (shared.empty()) return {.prefix = "", .trees = {expression}};
  ExpressionTrees parts{.prefix = UnusedPrefix(expression), .trees = {}};
  const auto leaf = [](const cp::Expression& part) { return part; };
  Rebuilt calls;
  ForEachCall(expression, [&](const cp::Expression& part) {
    bool changed = false;
    auto tree = RebuildCall(*part.call(), calls, leaf, &changed);
    if (!changed) tree = part;
    if (shared.contains(part.call())) {
      auto name = parts.prefix + std::to_string(parts.trees.size());
      parts.trees.push_back(std::move(tree));
      tree = cp::field_ref(arrow::FieldRef(std::move(name)));
    }
    calls.emplace(part.call(), std::move(tree));
  });
  parts.trees.push_back(calls.at(expression.call()));
  return parts;
}

cp::Expression JoinSharedParts(const ExpressionTrees& parts) {
  std::unordered_map<std::string, cp::Expression> known;
  cp::Expression last;
  for (const auto& tree : parts.trees) {
    last = ReplaceColumns(tree, [&](const std::string& name) {
      const auto found = known.find(name);
      return found == known.end() ? nullptr : &found->second;
    });
    known.emplace(parts.prefix + std::to_string(known.size()), last);
  }
  return last;
}

}  // namespace xshards
