// SPDX-License-Identifier: Apache-2.0
// What a plan's output looks like, found without running it.
#include "xshards/plan/output_schema.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <arrow/type.h>

#include "xshards/plan/aggregate_functions.h"
#include "xshards/plan/distinct.h"
#include "xshards/plan/plan.h"
#include "xshards/types/conform.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

/// True for values that only Python compares. Categories are compared by their places.
bool HoldsObjects(const arrow::Field& field) {
  return IsOpaque(field) && FamilyOf(field) != DtypeFamily::kCategory;
}

}  // namespace

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
      "' holds Python objects, and only Python knows which of them are equal: go by a "
      "column of numbers, text or times made of it (in Python, with transform_shard), "
      "or, if a function gave it, cache() the shards before, so that it is known");
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
      "' holds Python objects, whose order only Python knows: sort by a column of "
      "numbers, text or times made of it (in Python, with transform_shard)");
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
  if (node.all_columns) {
    ARROW_RETURN_NOT_OK(CheckKeys(input->field_names(), *input));
    return input;
  }
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

std::shared_ptr<arrow::DataType> SumType(const arrow::DataType& type) {
  if (arrow::is_unsigned_integer(type.id())) return arrow::uint64();
  if (arrow::is_signed_integer(type.id()) || type.id() == arrow::Type::BOOL) {
    return arrow::int64();
  }
  if (type.id() == arrow::Type::DECIMAL128) {
    const int32_t scale = static_cast<const arrow::Decimal128Type&>(type).scale();
    return arrow::decimal128(arrow::Decimal128Type::kMaxPrecision, scale);
  }
  return type.id() == arrow::Type::NA ? arrow::float64() : type.GetSharedPtr();
}

/// Of mean, variance and the like. pandas gives the mean of float32 as float64, but not
/// that of Float32.
std::shared_ptr<arrow::DataType> MomentType(const std::string& function,
                                            const arrow::DataType& type,
                                            DtypeFamily family) {
  const bool is_median = function == "median";
  const bool is_mean =
      function == "mean" || function == "avg" || (IsQuantile(function) && !is_median);
  if (type.id() == arrow::Type::DURATION) return type.GetSharedPtr();
  if (type.id() == arrow::Type::TIMESTAMP) {
    const auto unit = static_cast<const arrow::TimestampType&>(type).unit();
    return is_mean || is_median ? type.GetSharedPtr() : arrow::duration(unit);
  }
  const bool keeps_decimals =
      is_mean && !IsQuantile(function) && family == DtypeFamily::kArrow;
  if (type.id() == arrow::Type::DECIMAL128 && keeps_decimals) return type.GetSharedPtr();
  const bool single =
      type.id() == arrow::Type::FLOAT && (!is_mean || family == DtypeFamily::kMasked);
  return single ? arrow::float32() : arrow::float64();
}

/// Decimals of no dtype of their own are objects to pandas, and so are the floats that it
/// computes of them, but for the deviation.
bool GivesObjects(const std::string& function, const arrow::Field& field) {
  return arrow::is_decimal(ValueType(field.type())->id()) &&
         FamilyOf(field) == DtypeFamily::kPlain && !function.starts_with("stddev");
}

const std::set<std::string>& NumericAggregates() {
  static const std::set<std::string> names = {
      "sum",        "prod",     "mean",         "avg",    "stddev",
      "stddev_pop", "variance", "var_pop",      "skew",   "skewness",
      "kurt",       "kurtosis", "sum_distinct", "median", "quantile"};
  return names;
}

const std::set<std::string>& OtherAggregates() {
  static const std::set<std::string> names = {"min",
                                              "max",
                                              "count",
                                              "first",
                                              "last",
                                              "nunique",
                                              "first_row",
                                              "last_row",
                                              "first_position",
                                              "last_position",
                                              "single_position",
                                              "collect_list",
                                              "collect_set",
                                              "approx_count_distinct"};
  return names;
}

arrow::Status CheckAggregate(const Aggregate& aggregate) {
  const std::string& function = aggregate.function;
  if (IsQuantile(function)) return QuantileShare(function).status();
  if (NumericAggregates().contains(function) || OtherAggregates().contains(function)) {
    return arrow::Status::OK();
  }
  std::string known;
  for (const auto& names : {NumericAggregates(), OtherAggregates()}) {
    for (const auto& name : names) {
      // These are steps of other operations.
      if (name.ends_with("_position") || name.ends_with("_row")) continue;
      known += (known.empty() ? "" : ", ") + name;
    }
  }
  return arrow::Status::Invalid("There is no aggregate '", function,
                                "'; there are: ", known);
}

/// Times have a mean and a deviation, durations a sum too; neither has powers. Digits of
/// decimals would not hold a product.
bool AddsUp(const std::string& function, const arrow::DataType& type) {
  const bool has_powers = function.starts_with("var") || function.starts_with("skew") ||
                          function.starts_with("kurt") || function == "prod";
  switch (type.id()) {
    case arrow::Type::BOOL:
    case arrow::Type::NA:
      return true;
    case arrow::Type::DURATION:
      return !has_powers;
    case arrow::Type::TIMESTAMP:
      return !has_powers && !function.starts_with("sum");
    case arrow::Type::DECIMAL128:
      return function != "prod";
    default:
      return arrow::is_numeric(type.id());
  }
}

arrow::Status CheckAddsUp(const Aggregate& aggregate, const arrow::Field& field) {
  const auto type = ValueType(field.type());
  const bool adds_up = AddsUp(aggregate.function, *type);
  if (adds_up && FamilyOf(field) != DtypeFamily::kCategory) return arrow::Status::OK();
  const char* fix = arrow::is_decimal(type->id()) ? ": cast it to float64 before" : "";
  return arrow::Status::TypeError("The ", aggregate.function, " of column '",
                                  *aggregate.column, "' needs numbers, not ",
                                  type->ToString(), fix);
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

arrow::Result<std::shared_ptr<arrow::Field>> AggregateField(const Aggregate& aggregate,
                                                            const arrow::Schema& input) {
  ARROW_RETURN_NOT_OK(CheckAggregate(aggregate));
  const std::string& function = aggregate.function;
  if (!aggregate.column) {
    if (function == "count" || function.ends_with("_position")) {
      return arrow::field(aggregate.output, arrow::int64());
    }
    return arrow::Status::Invalid("Rows are only counted: name a column for ", function);
  }
  ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(*aggregate.column, input));
  const auto type = ValueType(field->type());
  const auto family = FamilyOf(*field);
  const bool tells_apart = function == "nunique" || function == "collect_set" ||
                           function == "approx_count_distinct";
  if (tells_apart) ARROW_RETURN_NOT_OK(KeyField(*aggregate.column, input).status());
  const auto computed = [&](const std::shared_ptr<arrow::DataType>& result) {
    return WithDtype(arrow::field(aggregate.output, result),
                     DtypeNameIn(family, *result));
  };
  if (NumericAggregates().contains(function) || IsQuantile(function)) {
    ARROW_RETURN_NOT_OK(CheckAddsUp(aggregate, *field));
    const bool is_sum = function.starts_with("sum") || function == "prod";
    if (is_sum) return computed(SumType(*type));
    const auto moments = computed(MomentType(function, *type, family));
    return GivesObjects(function, *field) ? AsObjects(moments) : moments;
  }
  if (function == "nunique" || function == "approx_count_distinct" ||
      (function == "count" && family == DtypeFamily::kText)) {
    return arrow::field(aggregate.output, arrow::int64());
  }
  if (function == "count") return computed(arrow::int64());
  if (function.starts_with("collect")) {
    return arrow::field(aggregate.output, arrow::large_list(type));
  }
  const bool by_order = function == "min" || function == "max";
  if (by_order && family == DtypeFamily::kCategory && !IsOrdered(*field)) {
    return arrow::Status::TypeError("The ", function, " of column '", *aggregate.column,
                                    "' needs categories that have an order");
  }
  if (by_order && HoldsObjects(*field)) {
    return arrow::Status::TypeError("The ", function, " of column '", *aggregate.column,
                                    "' needs values that have an order, not Python "
                                    "objects");
  }
  // A value of the column, with all that belongs to it.
  return Renamed(field->WithType(type), aggregate.output);
}

namespace {

arrow::Result<SchemaPointer> SampleSchema(const SampleNode& node,
                                          const SchemaPointer& input) {
  if (node.replace && node.complement) {
    return arrow::Status::Invalid(
        "Rows that are drawn again and again leave no others: sample either with "
        "replacement or the complement");
  }
  if (!node.weights.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto field, FieldOf(node.weights, *input));
    const auto type = ValueType(field->type());
    if (!arrow::is_numeric(type->id()) && type->id() != arrow::Type::BOOL) {
      return arrow::Status::TypeError("Weights are numbers, but column '", node.weights,
                                      "' has ", type->ToString());
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

}  // namespace

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
    auto found = scan.found == nullptr ? nullptr : scan.found->Get();
    const auto& schema = found == nullptr ? scan.schema : found;
    if (!scan.columns) return schema;
    arrow::FieldVector fields;
    for (const auto& name : *scan.columns) {
      ARROW_ASSIGN_OR_RAISE(auto field, FieldOf(name, *schema));
      fields.push_back(std::move(field));
    }
    return arrow::schema(std::move(fields), schema->metadata());
  }
  if (plan.kind() == NodeKind::kLiteral) return plan.as<LiteralNode>().schema;
  if (plan.kind() == NodeKind::kStageInput) return plan.as<StageInputNode>().schema;
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
      if (bound.field->type()->id() != arrow::Type::BOOL) {
        return arrow::Status::TypeError("A filter needs a true/false expression, but ",
                                        plan.as<FilterNode>().predicate.ToString(),
                                        " is ", bound.field->type()->ToString());
      }
      return inputs[0];
    }
    case NodeKind::kExchange: {
      const auto& exchange = plan.as<ExchangeNode>();
      if (exchange.mode == ExchangeMode::kHash) {
        ARROW_RETURN_NOT_OK(CheckKeys(exchange.keys, *inputs[0]));
        return inputs[0];
      }
      for (const auto& key : exchange.keys) {
        ARROW_RETURN_NOT_OK(CheckOrder(key, *inputs[0]));
      }
      return inputs[0];
    }
    case NodeKind::kAggregate:
      return AggregateSchema(plan.as<AggregateNode>(), inputs[0]);
    case NodeKind::kJoin:
      return JoinSchema(plan.as<JoinNode>(), *inputs[0], *inputs[1]);
    case NodeKind::kSort: {
      for (const auto& key : plan.as<SortNode>().keys) {
        ARROW_RETURN_NOT_OK(CheckOrder(key.column, *inputs[0]));
      }
      return inputs[0];
    }
    case NodeKind::kSample:
      return SampleSchema(plan.as<SampleNode>(), inputs[0]);
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
    case NodeKind::kStageInput:
      return 1;
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
      if (IsMadeByPosition(aggregate, *plan.inputs[0])) break;
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
