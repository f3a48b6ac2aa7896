// SPDX-License-Identifier: Apache-2.0
// What a plan's output looks like, found without running it.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <arrow/type.h>

#include "xshards/conform.h"
#include "xshards/plan.h"

namespace xshards {

namespace {

using SchemaPointer = std::shared_ptr<arrow::Schema>;

arrow::Status NoColumn(const std::string& name, const arrow::Schema& schema) {
  std::string known;
  for (const auto& field : schema.fields()) {
    known += (known.empty() ? "" : ", ") + field->name();
  }
  return arrow::Status::KeyError("There is no column '", name, "'; there are: ", known);
}

arrow::Result<std::shared_ptr<arrow::Field>> FieldOf(const std::string& name,
                                                     const arrow::Schema& schema) {
  auto field = schema.GetFieldByName(name);
  if (field == nullptr) return NoColumn(name, schema);
  return field;
}

arrow::Status CheckColumns(const std::vector<std::string>& names,
                           const arrow::Schema& schema) {
  for (const auto& name : names) ARROW_RETURN_NOT_OK(FieldOf(name, schema).status());
  return arrow::Status::OK();
}

arrow::Result<SchemaPointer> ProjectSchema(const ProjectNode& node,
                                           const arrow::Schema& input) {
  ARROW_ASSIGN_OR_RAISE(auto project, ExpandProject(node, input));
  arrow::FieldVector fields;
  for (size_t i = 0; i < project.names.size(); ++i) {
    if (const std::string* column = project.expressions[i].column_name()) {
      ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(*column, input));
      fields.push_back(field->WithName(project.names[i]));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto bound, project.expressions[i].Bind(input));
    fields.push_back(arrow::field(project.names[i], bound.type()->GetSharedPtr()));
  }
  return arrow::schema(std::move(fields), input.metadata());
}

arrow::Result<SchemaPointer> AggregateSchema(const AggregateNode& node,
                                             const SchemaPointer& input) {
  if (node.phase == AggregatePhase::kFinal) return node.schema;
  if (node.all_columns) return input;
  arrow::FieldVector fields;
  for (const auto& key : node.keys) {
    ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(key, *input));
    fields.push_back(std::move(field));
  }
  for (const auto& aggregate : node.aggregates) {
    ARROW_ASSIGN_OR_RAISE(auto type, AggregateType(aggregate, *input));
    fields.push_back(arrow::field(aggregate.output, std::move(type)));
  }
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

bool IsText(const arrow::DataType& type) {
  return arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type);
}

/// Dictionary is an encoding, not a type, to the user.
std::shared_ptr<arrow::DataType> ValueType(std::shared_ptr<arrow::DataType> type) {
  if (type->id() != arrow::Type::DICTIONARY) return type;
  return static_cast<const arrow::DictionaryType&>(*type).value_type();
}

std::shared_ptr<arrow::DataType> SumType(const arrow::DataType& type) {
  if (arrow::is_unsigned_integer(type.id())) return arrow::uint64();
  if (arrow::is_signed_integer(type.id()) || type.id() == arrow::Type::BOOL) {
    return arrow::int64();
  }
  return type.GetSharedPtr();
}

std::shared_ptr<arrow::DataType> MeanType(const arrow::DataType& type) {
  return type.id() == arrow::Type::FLOAT ? arrow::float32() : arrow::float64();
}

}  // namespace

arrow::Result<ProjectNode> ExpandProject(const ProjectNode& node,
                                         const arrow::Schema& input) {
  if (!node.keep_input) return node;
  ARROW_RETURN_NOT_OK(CheckColumns(node.drop, input));
  ProjectNode expanded;
  auto add = [&](const std::string& name, Expression expression) {
    expanded.names.push_back(name);
    expanded.expressions.push_back(std::move(expression));
  };
  for (const auto& field : input.fields()) {
    const std::string& name = field->name();
    if (std::find(node.drop.begin(), node.drop.end(), name) != node.drop.end()) continue;
    auto replaced = std::find(node.names.begin(), node.names.end(), name);
    add(name, replaced == node.names.end()
                  ? col(name)
                  : node.expressions[static_cast<size_t>(replaced - node.names.begin())]);
  }
  for (size_t i = 0; i < node.names.size(); ++i) {
    if (input.GetFieldIndex(node.names[i]) < 0) add(node.names[i], node.expressions[i]);
  }
  return expanded;
}

arrow::Result<std::shared_ptr<arrow::DataType>> AggregateType(
    const Aggregate& aggregate, const arrow::Schema& input) {
  static const std::set<std::string> kNumeric = {
      "sum",     "mean", "avg",      "stddev", "stddev_pop", "variance",
      "var_pop", "skew", "skewness", "kurt",   "kurtosis"};
  static const std::set<std::string> kAny = {"min",   "max",  "count",
                                             "first", "last", "nunique"};
  const std::string& function = aggregate.function;
  if (!kNumeric.contains(function) && !kAny.contains(function)) {
    std::string known;
    for (const auto& names : {kNumeric, kAny}) {
      for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    }
    return arrow::Status::Invalid("There is no aggregate '", function,
                                  "'; there are: ", known);
  }
  if (function == "count" && aggregate.column == "*") return arrow::int64();
  ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(aggregate.column, input));
  auto type = ValueType(field->type());
  const bool numeric = arrow::is_numeric(type->id()) || type->id() == arrow::Type::BOOL ||
                       type->id() == arrow::Type::NA;
  if (kNumeric.contains(function) && !numeric) {
    return arrow::Status::TypeError("The ", function, " of column '", aggregate.column,
                                    "' needs numbers, not ", type->ToString());
  }
  if (function == "count" || function == "nunique") return arrow::int64();
  if (function == "sum") {
    return type->id() == arrow::Type::NA ? arrow::float64() : SumType(*type);
  }
  if (kNumeric.contains(function)) return MeanType(*type);
  return type;
}

arrow::Result<SchemaPointer> JoinSchema(const JoinNode& node, const arrow::Schema& left,
                                        const arrow::Schema& right) {
  if (node.left_keys.size() != node.right_keys.size() || node.left_keys.empty()) {
    return arrow::Status::Invalid(
        "A join needs as many keys on the left as on the "
        "right, and at least one; got ",
        node.left_keys.size(), " and ", node.right_keys.size());
  }
  std::set<std::string> shared_keys;
  std::map<std::string, std::shared_ptr<arrow::DataType>> key_types;
  for (size_t i = 0; i < node.left_keys.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto left_field, FieldOf(node.left_keys[i], left));
    ARROW_ASSIGN_OR_RAISE(auto right_field, FieldOf(node.right_keys[i], right));
    auto left_type = ValueType(left_field->type());
    auto right_type = ValueType(right_field->type());
    if (IsText(*left_type) != IsText(*right_type) && left_type->id() != arrow::Type::NA &&
        right_type->id() != arrow::Type::NA) {
      return arrow::Status::TypeError("Cannot join '", node.left_keys[i], "' (",
                                      left_type->ToString(), ") with '",
                                      node.right_keys[i], "' (", right_type->ToString(),
                                      "): cast one of them to the type of the other");
    }
    const bool no_common_integer = (left_type->id() == arrow::Type::UINT64 &&
                                    arrow::is_signed_integer(right_type->id())) ||
                                   (right_type->id() == arrow::Type::UINT64 &&
                                    arrow::is_signed_integer(left_type->id()));
    if (no_common_integer) {
      return arrow::Status::TypeError(
          "Cannot join '", node.left_keys[i], "' (", left_type->ToString(), ") with '",
          node.right_keys[i], "' (", right_type->ToString(),
          "): no integer type holds both; cast one of them to the type of the other");
    }
    if (node.left_keys[i] != node.right_keys[i]) continue;
    shared_keys.insert(node.left_keys[i]);
    ARROW_ASSIGN_OR_RAISE(auto unified,
                          Unify(arrow::schema({arrow::field("key", left_type)}),
                                arrow::schema({arrow::field("key", right_type)})));
    key_types[node.left_keys[i]] = unified->field(0)->type();
  }
  arrow::FieldVector fields;
  for (const auto& field : left.fields()) {
    const std::string& name = field->name();
    if (shared_keys.contains(name)) {
      fields.push_back(arrow::field(name, key_types[name]));
    } else {
      const bool clash = right.GetFieldIndex(name) >= 0;
      fields.push_back(
          field->WithName(clash ? name + node.left_suffix : name)->WithNullable(true));
    }
  }
  for (const auto& field : right.fields()) {
    const std::string& name = field->name();
    if (shared_keys.contains(name)) continue;
    const bool clash = left.GetFieldIndex(name) >= 0;
    fields.push_back(
        field->WithName(clash ? name + node.right_suffix : name)->WithNullable(true));
  }
  auto schema = arrow::schema(std::move(fields));
  for (const auto& field : schema->fields()) {
    if (schema->GetFieldIndex(field->name()) >= 0) continue;
    return arrow::Status::Invalid("The join would give two columns named '",
                                  field->name(), "'; choose other suffixes");
  }
  return schema;
}

arrow::Result<SchemaPointer> OutputSchema(const PlanNode& plan) {
  if (plan.kind() == NodeKind::kCache) {
    auto filled = plan.as<CacheNode>().cell->Get();
    // Without a common type the schema is not known, but the partitions are there.
    if (filled) return UnifySchemas(*filled).ValueOr(nullptr);
  }
  std::vector<SchemaPointer> inputs;
  for (const auto& input : plan.inputs) {
    ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*input));
    inputs.push_back(std::move(schema));
  }
  if (plan.kind() == NodeKind::kScan) {
    const auto& scan = plan.as<ScanNode>();
    if (!scan.columns) return scan.schema;
    arrow::FieldVector fields;
    for (const auto& name : *scan.columns) {
      ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(name, *scan.schema));
      fields.push_back(std::move(field));
    }
    return arrow::schema(std::move(fields), scan.schema->metadata());
  }
  if (plan.kind() == NodeKind::kLiteral) return plan.as<LiteralNode>().schema;
  if (plan.kind() == NodeKind::kMapNative || plan.kind() == NodeKind::kMapPython) {
    return nullptr;
  }
  for (const auto& input : inputs) {
    if (input == nullptr) return nullptr;
  }
  switch (plan.kind()) {
    case NodeKind::kProject:
      return ProjectSchema(plan.as<ProjectNode>(), *inputs[0]);
    case NodeKind::kFilter: {
      ARROW_ASSIGN_OR_RAISE(auto bound, plan.as<FilterNode>().predicate.Bind(*inputs[0]));
      if (bound.type()->id() != arrow::Type::BOOL) {
        return arrow::Status::TypeError("A filter needs a true/false expression, but ",
                                        plan.as<FilterNode>().predicate.ToString(),
                                        " is ", bound.type()->ToString());
      }
      return inputs[0];
    }
    case NodeKind::kExchange:
      ARROW_RETURN_NOT_OK(CheckColumns(plan.as<ExchangeNode>().keys, *inputs[0]));
      return inputs[0];
    case NodeKind::kAggregate:
      return AggregateSchema(plan.as<AggregateNode>(), inputs[0]);
    case NodeKind::kJoin:
      return JoinSchema(plan.as<JoinNode>(), *inputs[0], *inputs[1]);
    case NodeKind::kSort: {
      for (const auto& key : plan.as<SortNode>().keys) {
        ARROW_RETURN_NOT_OK(FieldOf(key.column, *inputs[0]).status());
      }
      return inputs[0];
    }
    case NodeKind::kUnion: {
      auto schema = inputs[0];
      for (const auto& input : inputs) {
        ARROW_ASSIGN_OR_RAISE(schema, Unify(schema, input));
      }
      return schema;
    }
    case NodeKind::kZip:
      return ZipSchema(*inputs[0], *inputs[1]);
    default:
      return inputs[0];
  }
}

bool GivesTables(const PlanNode& plan) {
  switch (plan.kind()) {
    case NodeKind::kLiteral:
      return plan.as<LiteralNode>().schema != nullptr;
    case NodeKind::kMapPython:
      return false;
    case NodeKind::kCache: {
      const auto filled = plan.as<CacheNode>().cell->Get();
      if (filled) return KindsOf(*filled) == std::set{PayloadKind::kTable};
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
    case NodeKind::kCache: {
      auto filled = plan.as<CacheNode>().cell->Get();
      if (filled) return static_cast<int>(filled->size());
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
      if (aggregate.ordered || (aggregate.keys.empty() && !aggregate.all_columns)) {
        return 1;
      }
      break;
    }
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
    case NodeKind::kJoin: {
      const int left = NumPartitions(*plan.inputs[0]);
      const int right = NumPartitions(*plan.inputs[1]);
      return left < 0 || right < 0 ? -1 : std::max(left, right);
    }
    default:
      break;
  }
  return NumPartitions(*plan.inputs[0]);
}

}  // namespace xshards
