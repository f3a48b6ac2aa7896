// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/plan.h"

#include <algorithm>
#include <sstream>
#include <type_traits>
#include <utility>

#include "xshards/plan/output_schema.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace {

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// The columns read as dictionaries.
std::vector<std::string> EncodedColumns(const ScanNode& node) {
  std::vector<std::string> names;
  for (const auto& name : node.columns.value_or(node.schema->field_names())) {
    const auto field = node.schema->GetFieldByName(name);
    if (field != nullptr && IsEncoded(*field)) names.push_back(name);
  }
  return names;
}

std::string Line(const ScanNode& node) {
  std::ostringstream line;
  line << "Scan " << node.format;
  if (!node.splits.empty()) {
    line << " " << node.splits.front().path;
    if (node.splits.back().path != node.splits.front().path) line << ", ...";
  }
  line << " (" << node.splits.size() << " splits";
  if (node.columns) {
    line << "; columns " << node.columns->size() << " of " << node.schema->num_fields();
    line << ": " << Join(*node.columns);
  }
  const auto encoded = EncodedColumns(node);
  if (!encoded.empty()) line << "; dictionaries kept: " << Join(encoded);
  if (node.filter) line << "; skips by " << node.filter->ToString();
  if (node.limit) line << "; at most " << *node.limit << " rows each";
  line << ")";
  return line.str();
}

std::string Line(const LiteralNode& node) {
  return "Literal (" + std::to_string(node.partitions.size()) + " partitions)";
}

std::string Line(const ProjectNode& node) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < node.names.size(); ++i) {
    const std::string* column = node.expressions[i].column_name();
    const bool plain = column != nullptr && *column == node.names[i];
    parts.push_back(plain ? node.names[i]
                          : node.names[i] + " = " + node.expressions[i].ToString());
  }
  std::string line = node.keep_input ? "WithColumns " : "Select ";
  line += Join(parts);
  if (!node.drop.empty()) line += " without " + Join(node.drop);
  return line;
}

std::string Line(const FilterNode& node) { return "Filter " + node.predicate.ToString(); }

std::string Line(const MapNativeNode& node) {
  if (node.name.empty()) return "MapNative <unregistered: stays in this process>";
  return "MapNative " + node.name;
}

std::string Line(const MapPythonNode& node) {
  const std::string pieces =
      node.batch_rows > 0 ? ", " + std::to_string(node.batch_rows) + " rows at a time"
                          : std::string();
  return "MapPython " + node.label + " (" + node.format + pieces +
         (node.on_threads ? ", on threads)" : ", in worker processes)");
}

std::string Line(const ExchangeNode& node) {
  std::string count = node.num_partitions > 0
                          ? " into " + std::to_string(node.num_partitions)
                          : std::string();
  switch (node.mode) {
    case ExchangeMode::kHash:
      return "Exchange by hash of " + Join(node.keys) + count;
    case ExchangeMode::kRange:
      return "Exchange by range of " + Join(node.keys) + count;
    case ExchangeMode::kRoundRobin:
      return "Exchange balanced" + count;
    case ExchangeMode::kGather:
      return "Exchange to one partition";
  }
  return "Exchange";
}

std::string Line(const AggregateNode& node) {
  std::vector<std::string> parts;
  for (const auto& aggregate : node.aggregates) parts.push_back(aggregate.output);
  std::string line = "Aggregate";
  if (node.phase == AggregatePhase::kPartial) line += " (partial)";
  if (node.phase == AggregatePhase::kFinal) line += " (final)";
  if (!parts.empty()) line += " " + Join(parts);
  return line + " by " + (node.keys.empty() ? "nothing" : Join(node.keys));
}

std::string Line(const DistinctNode& node) {
  const bool is_partial = node.phase == DistinctPhase::kPartialRows ||
                          node.phase == DistinctPhase::kPartialPositions;
  const bool is_final = node.phase == DistinctPhase::kFinalRows ||
                        node.phase == DistinctPhase::kFinalPositions;
  std::string line = "Distinct";
  if (is_partial) line += " (partial)";
  if (is_final) line += " (final)";
  line += " by " + (node.keys.empty() ? "all columns" : Join(node.keys));
  if (node.keep == Keep::kLast) line += ", keep last";
  if (node.keep == Keep::kNone) line += ", keep none";
  if (node.gives_dropped) line += ", dropped rows";
  return line;
}

std::string Line(const JoinNode& node) {
  static constexpr const char* kNames[] = {"inner", "left", "right", "outer",
                                           "semi",  "anti", "cross"};
  std::string line = std::string("Join ") + kNames[static_cast<int>(node.type)];
  if (node.type == JoinType::kCross) return line;
  line += " on ";
  line += Join(node.left_keys);
  if (node.left_keys != node.right_keys) line += " = " + Join(node.right_keys);
  return line;
}

std::string Line(const SortNode& node) {
  std::vector<std::string> parts;
  for (const auto& key : node.keys) {
    parts.push_back(key.column + (key.ascending ? "" : " descending"));
  }
  const std::string what =
      node.limit ? "Top " + std::to_string(*node.limit) + " by " : "Sort by ";
  return what + Join(parts) + (node.nulls_first ? ", missing first" : "");
}

std::string Line(const LimitNode& node) { return "Limit " + std::to_string(node.count); }
std::string Line(const UnionNode&) { return "Union"; }
std::string Line(const ZipNode&) { return "Zip"; }
std::string Line(const CacheNode& node) {
  return node.partitions != nullptr ? "Cache (filled)" : "Cache (empty)";
}

std::string Line(const SampleNode& node) {
  std::ostringstream line;
  line << "Sample ";
  if (node.complement) line << "all but ";
  if (node.count >= 0) {
    line << node.count << " rows";
  } else {
    line << node.share << " of the rows";
  }
  if (node.replace) line << " with replacement";
  if (!node.weights.empty()) line << " by weight " << node.weights;
  return line.str();
}

std::string Line(const StageInputNode& node) {
  return "Read stage " + std::to_string(node.stage->number);
}

bool HaveEqualSchemas(const PlanNode& one, const PlanNode& two) {
  if (!one.output_schema.ok() || !two.output_schema.ok()) return false;
  const auto& first = *one.output_schema;
  const auto& second = *two.output_schema;
  if (first == nullptr || second == nullptr) return first == second;
  return first == second || first->Equals(*second, /*check_metadata=*/true);
}

}  // namespace

Plan MakeNode(NodeVariant node, std::vector<Plan> inputs) {
  auto schema = FindSchema(node, inputs);
  return std::make_shared<const PlanNode>(
      PlanNode{std::move(node), std::move(inputs), std::move(schema)});
}

Plan MakeNodeLike(const PlanNode& like, NodeVariant node, std::vector<Plan> inputs) {
  return std::make_shared<const PlanNode>(
      PlanNode{std::move(node), std::move(inputs), like.output_schema});
}

Plan WithInputs(const Plan& plan, std::vector<Plan> inputs) {
  if (inputs == plan->inputs) return plan;
  const bool same = std::equal(
      inputs.begin(), inputs.end(), plan->inputs.begin(), plan->inputs.end(),
      [](const Plan& one, const Plan& two) { return HaveEqualSchemas(*one, *two); });
  return same ? MakeNodeLike(*plan, plan->node, std::move(inputs))
              : MakeNode(plan->node, std::move(inputs));
}

const char* ToString(NodeKind kind) {
  static constexpr const char* kNames[kNumNodeKinds] = {
      "Scan",     "Literal",   "Project", "Filter",     "MapNative", "MapPython",
      "Exchange", "Aggregate", "Join",    "Sort",       "Limit",     "Union",
      "Zip",      "Cache",     "Sample",  "StageInput", "Distinct"};
  return kNames[static_cast<int>(kind)];
}

std::string Describe(const PlanNode& node) {
  return std::visit([](const auto& concrete) { return Line(concrete); }, node.node);
}

}  // namespace xshards
