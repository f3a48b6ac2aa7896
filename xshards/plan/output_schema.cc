// SPDX-License-Identifier: Apache-2.0
// What a plan's output looks like, found without running it.
#include "xshards/plan/output_schema.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <arrow/type.h>

#include "xshards/plan/distinct.h"
#include "xshards/plan/plan.h"
#include "xshards/types/conform.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

bool HoldsObjects(const arrow::Field& field) {
  return IsOpaque(field) && FamilyOf(field) != DtypeFamily::kCategory;
}

arrow::Result<std::shared_ptr<arrow::Field>> FieldOf(const std::string& name,
                                                     const arrow::Schema& schema) {
  auto field = schema.GetFieldByName(name);
  if (field != nullptr) return field;
  std::string known;
  for (const auto& one : schema.fields()) {
    known += (known.empty() ? "" : ", ") + one->name();
  }
  return arrow::Status::KeyError("There is no column '", name, "'; there are: ", known);
}

arrow::Result<std::shared_ptr<arrow::Field>> KeyField(const std::string& name,
                                                      const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(name, schema));
  if (!HoldsObjects(*field)) return field;
  return arrow::Status::TypeError(
      "Column '", name,
      "' holds Python objects, which only Python can compare: use a "
      "column of numbers, text or times made from it (in Python, with transform_shard), "
      "or, if it comes from a function, cache() the shards first, so that its type is "
      "known");
}

namespace {

using SchemaPointer = std::shared_ptr<arrow::Schema>;

arrow::Status CheckColumns(const std::vector<std::string>& names,
                           const arrow::Schema& schema) {
  for (const auto& name : names) ARROW_RETURN_NOT_OK(FieldOf(name, schema).status());
  return arrow::Status::OK();
}

arrow::Status CheckKeys(const std::vector<std::string>& names,
                        const arrow::Schema& schema) {
  for (const auto& name : names) ARROW_RETURN_NOT_OK(KeyField(name, schema).status());
  return arrow::Status::OK();
}

/// Of columns to sort by.
arrow::Status CheckOrder(const std::string& name, const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto field, FieldOf(name, schema));
  if (!HoldsObjects(*field)) return arrow::Status::OK();
  return arrow::Status::TypeError(
      "Column '", name,
      "' holds Python objects, which only Python can order: sort by a column of "
      "numbers, text or times made from it (in Python, with transform_shard)");
}

arrow::Result<SchemaPointer> ProjectSchema(const ProjectNode& node,
                                           const arrow::Schema& input) {
  ARROW_ASSIGN_OR_RAISE(auto project, ExpandProject(node, input));
  arrow::FieldVector fields;
  for (size_t i = 0; i < project.names.size(); ++i) {
    if (const std::string* column = project.expressions[i].column_name()) {
      ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(*column, input));
      fields.push_back(Renamed(field, project.names[i]));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto bound, project.expressions[i].Bind(input));
    fields.push_back(InPlace(bound.field, project.names[i], input));
  }
  return arrow::schema(std::move(fields), input.metadata());
}

arrow::Result<SchemaPointer> AggregateSchema(const AggregateNode& node,
                                             const SchemaPointer& input) {
  if (node.phase == AggregatePhase::kFinal) return node.schema;
  arrow::FieldVector fields;
  for (const auto& key : node.keys) {
    ARROW_ASSIGN_OR_RAISE(auto field, KeyField(key, *input));
    fields.push_back(std::move(field));
  }
  for (const auto& aggregate : node.aggregates) {
    ARROW_ASSIGN_OR_RAISE(auto field, AggregateField(aggregate, *input));
    fields.push_back(std::move(field));
  }
  return arrow::schema(std::move(fields));
}

arrow::Result<SchemaPointer> DistinctSchema(const DistinctNode& node,
                                            const SchemaPointer& input) {
  const auto position = arrow::field(kPositionColumn, arrow::int64());
  if (node.phase == DistinctPhase::kFinalPositions) return arrow::schema({position});
  const bool by_all = node.keys.empty();
  const auto keys = by_all ? input->field_names() : node.keys;
  arrow::FieldVector fields;
  for (const auto& key : keys) {
    ARROW_ASSIGN_OR_RAISE(auto field, KeyField(key, *input));
    fields.push_back(std::move(field));
  }
  if (node.phase != DistinctPhase::kPartialPositions) return input;
  fields.push_back(position);
  return arrow::schema(std::move(fields));
}

arrow::Result<SchemaPointer> ZipSchema(const arrow::Schema& left,
                                       const arrow::Schema& right) {
  auto fields = left.fields();
  for (const auto& field : right.fields()) {
    if (left.GetFieldIndex(field->name()) >= 0) {
      return arrow::Status::Invalid("Zip: both sides have a column '", field->name(),
                                    "'; rename one of them");
    }
    fields.push_back(field);
  }
  return arrow::schema(std::move(fields));
}

}  // namespace

arrow::Result<ProjectNode> ExpandProject(const ProjectNode& node,
                                         const arrow::Schema& input) {
  const std::set<std::string> distinct(node.names.begin(), node.names.end());
  if (distinct.size() < node.names.size()) {
    auto names = node.names;
    std::sort(names.begin(), names.end());
    return arrow::Status::Invalid("Two columns would be named '",
                                  *std::adjacent_find(names.begin(), names.end()),
                                  "'; give one of them another name");
  }
  if (!node.keep_input) return node;
  ARROW_RETURN_NOT_OK(CheckColumns(node.drop, input));
  ProjectNode expanded;
  auto add = [&](const std::string& name, Expression expression) {
    expanded.names.push_back(name);
    expanded.expressions.push_back(std::move(expression));
  };
  const std::unordered_set<std::string_view> dropped(node.drop.begin(), node.drop.end());
  std::unordered_map<std::string_view, size_t> computed;
  for (size_t i = 0; i < node.names.size(); ++i) computed.emplace(node.names[i], i);
  for (const auto& field : input.fields()) {
    const std::string& name = field->name();
    if (dropped.contains(name)) continue;
    const auto replaced = computed.find(name);
    add(name,
        replaced == computed.end() ? col(name) : node.expressions[replaced->second]);
  }
  for (size_t i = 0; i < node.names.size(); ++i) {
    if (input.GetFieldIndex(node.names[i]) < 0) add(node.names[i], node.expressions[i]);
  }
  return expanded;
}

namespace {

arrow::Result<SchemaPointer> SampleSchema(const SampleNode& node,
                                          const SchemaPointer& input) {
  if (node.replace && node.complement) {
    return arrow::Status::Invalid(
        "replace and complement cannot be combined: sample either with "
        "replacement or the complement");
  }
  if (!node.weights.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto field, FieldOf(node.weights, *input));
    const auto type = ValueType(field->type());
    if (!arrow::is_numeric(type->id()) && type->id() != arrow::Type::BOOL) {
      return arrow::Status::TypeError("Weights must be numbers, but column '",
                                      node.weights, "' has ", type->ToString());
    }
  }
  switch (node.phase) {
    case SamplePhase::kGiveKeys:
      return arrow::schema({arrow::field("key", arrow::uint64())});
    case SamplePhase::kSumWeights:
      return arrow::schema({arrow::field("sum", arrow::float64())});
    default:
      return input;
  }
}

size_t NumNeededInputs(NodeKind kind) {
  switch (kind) {
    case NodeKind::kScan:
    case NodeKind::kLiteral:
    case NodeKind::kStageInput:
      return 0;
    case NodeKind::kJoin:
    case NodeKind::kZip:
      return 2;
    default:
      return 1;
  }
}

SchemaResult ScanSchema(const ScanNode& scan) {
  if (!scan.columns) return scan.schema;
  arrow::FieldVector fields;
  for (const auto& name : *scan.columns) {
    ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(name, *scan.schema));
    fields.push_back(std::move(field));
  }
  return arrow::schema(std::move(fields), scan.schema->metadata());
}

SchemaResult FilterSchema(const FilterNode& node, const SchemaPointer& input) {
  ARROW_ASSIGN_OR_RAISE(const auto bound, node.predicate.Bind(*input));
  if (bound.field->type()->id() == arrow::Type::BOOL) return input;
  return arrow::Status::TypeError("A filter needs a boolean expression, but ",
                                  node.predicate.ToString(), " is ",
                                  bound.field->type()->ToString());
}

SchemaResult ExchangeSchema(const ExchangeNode& node, const SchemaPointer& input) {
  if (node.mode == ExchangeMode::kHash) {
    ARROW_RETURN_NOT_OK(CheckKeys(node.keys, *input));
    return input;
  }
  for (const auto& key : node.keys) ARROW_RETURN_NOT_OK(CheckOrder(key, *input));
  return input;
}

SchemaResult SortSchema(const SortNode& node, const SchemaPointer& input) {
  for (const auto& key : node.keys) ARROW_RETURN_NOT_OK(CheckOrder(key.column, *input));
  return input;
}

SchemaResult UnionSchema(const std::vector<SchemaPointer>& inputs) {
  auto schema = inputs[0];
  for (const auto& input : inputs) {
    ARROW_ASSIGN_OR_RAISE(schema, Unify(schema, input));
  }
  return schema;
}

/// Of a node whose input has a known schema.
SchemaResult SchemaOver(const NodeVariant& node,
                        const std::vector<SchemaPointer>& inputs) {
  switch (static_cast<NodeKind>(node.index())) {
    case NodeKind::kProject:
      return ProjectSchema(std::get<ProjectNode>(node), *inputs[0]);
    case NodeKind::kFilter:
      return FilterSchema(std::get<FilterNode>(node), inputs[0]);
    case NodeKind::kExchange:
      return ExchangeSchema(std::get<ExchangeNode>(node), inputs[0]);
    case NodeKind::kAggregate:
      return AggregateSchema(std::get<AggregateNode>(node), inputs[0]);
    case NodeKind::kDistinct:
      return DistinctSchema(std::get<DistinctNode>(node), inputs[0]);
    case NodeKind::kJoin:
      return JoinSchema(std::get<JoinNode>(node), *inputs[0], *inputs[1]);
    case NodeKind::kSort:
      return SortSchema(std::get<SortNode>(node), inputs[0]);
    case NodeKind::kSample:
      return SampleSchema(std::get<SampleNode>(node), inputs[0]);
    case NodeKind::kUnion:
      return UnionSchema(inputs);
    case NodeKind::kZip:
      return ZipSchema(*inputs[0], *inputs[1]);
    default:
      return inputs[0];
  }
}

}  // namespace

SchemaResult FindSchema(const NodeVariant& node, const std::vector<Plan>& inputs) {
  const auto kind = static_cast<NodeKind>(node.index());
  if (kind == NodeKind::kScan) return ScanSchema(std::get<ScanNode>(node));
  if (kind == NodeKind::kLiteral) return std::get<LiteralNode>(node).schema;
  if (kind == NodeKind::kStageInput) return std::get<StageInputNode>(node).schema;
  if (kind == NodeKind::kCache) {
    const auto& filled = std::get<CacheNode>(node).partitions;
    // Without a common type the schema is unknown, but the partitions exist.
    if (filled != nullptr) return UnifySchemas(*filled).ValueOr(nullptr);
  }
  if (inputs.size() < NumNeededInputs(kind)) return nullptr;
  bool is_known = kind != NodeKind::kMapNative && kind != NodeKind::kMapPython;
  std::vector<SchemaPointer> schemas;
  for (const auto& input : inputs) {
    // An error below a node is an error of the plan, even if the node hides the schema.
    ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*input));
    is_known = is_known && schema != nullptr;
    schemas.push_back(std::move(schema));
  }
  return is_known ? SchemaOver(node, schemas) : nullptr;
}

bool GivesTables(const PlanNode& plan) {
  switch (plan.kind()) {
    case NodeKind::kLiteral:
      return plan.as<LiteralNode>().schema != nullptr;
    case NodeKind::kMapPython:
      return false;
    case NodeKind::kCache: {
      const auto& filled = plan.as<CacheNode>().partitions;
      if (filled != nullptr) return KindsOf(*filled) == std::set{PayloadKind::kTable};
      return GivesTables(*plan.inputs[0]);
    }
    case NodeKind::kUnion:
      return std::all_of(plan.inputs.begin(), plan.inputs.end(),
                         [](const Plan& input) { return GivesTables(*input); });
    default:
      return true;  // the others work on rows
  }
}

int NumPartitions(const PlanNode& plan) {
  switch (plan.kind()) {
    case NodeKind::kScan:
      return static_cast<int>(plan.as<ScanNode>().splits.size());
    case NodeKind::kLiteral:
      return static_cast<int>(plan.as<LiteralNode>().partitions.size());
    case NodeKind::kStageInput:
      return 1;
    case NodeKind::kCache: {
      const auto& filled = plan.as<CacheNode>().partitions;
      if (filled != nullptr) return static_cast<int>(filled->size());
      break;
    }
    case NodeKind::kExchange: {
      const auto& exchange = plan.as<ExchangeNode>();
      if (exchange.mode == ExchangeMode::kGather) return 1;
      if (exchange.num_partitions > 0) return exchange.num_partitions;
      break;
    }
    case NodeKind::kAggregate: {
      const auto& aggregate = plan.as<AggregateNode>();
      if (aggregate.ordered || aggregate.keys.empty()) return 1;
      break;
    }
    case NodeKind::kDistinct:
      if (IsMadeByPosition(plan.as<DistinctNode>(), *plan.inputs[0])) break;
      return 1;
    case NodeKind::kLimit:
      return -1;
    case NodeKind::kUnion: {
      int total = 0;
      for (const auto& input : plan.inputs) {
        const int count = NumPartitions(*input);
        if (count < 0) return -1;
        total += count;
      }
      return total;
    }
    case NodeKind::kJoin:  // depends on the size of its inputs
      return -1;
    case NodeKind::kSort:
      if (plan.as<SortNode>().limit) return 1;
      break;
    default:
      break;
  }
  return NumPartitions(*plan.inputs[0]);
}

}  // namespace xshards
