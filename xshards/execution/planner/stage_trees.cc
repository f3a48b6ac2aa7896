// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/stage_trees.h"

#include <algorithm>
#include <utility>

#include "xshards/types/conform.h"
#include "xshards/types/dictionary_encoding.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

/// The type to cast to: only text is cast to dictionaries.
std::shared_ptr<arrow::DataType> CastTarget(const arrow::Field& to) {
  auto values = ValueType(to.type());
  return values->id() == arrow::Type::LARGE_STRING ? to.type() : values;
}

/// A column cast to a wider type, or to another dtype.
Expression Widened(Expression column, const arrow::Field& from, const arrow::Field& to) {
  auto options = std::make_shared<arrow::compute::CastOptions>(
      WideningCast(*ValueType(from.type()), CastTarget(to)));
  std::vector<Expression> arguments = {std::move(column)};
  for (const auto& [key, value] : DtypePairs(to)) {
    arguments.push_back(lit(key));
    arguments.push_back(lit(value));
  }
  return Expression::Call("as_dtype", std::move(arguments), std::move(options));
}

}  // namespace

bool IsLeaf(const PlanNode& tree) {
  return tree.kind() == NodeKind::kLiteral || tree.kind() == NodeKind::kStageInput;
}

std::vector<Plan> ToTrees(const std::vector<Partition>& partitions,
                          const std::shared_ptr<arrow::Schema>& schema) {
  std::vector<Plan> trees;
  for (const auto& partition : partitions) {
    trees.push_back(MakeNode(LiteralNode{.schema = schema, .partitions = {partition}}));
  }
  return trees;
}

arrow::Result<std::vector<Plan>> ToTrees(const std::vector<Partition>& partitions) {
  // Outputs of functions may have no common type: a node that needs one reports it.
  return ToTrees(partitions, UnifySchemas(partitions).ValueOr(nullptr));
}

Plan Merged(StageInputNode first, const StageInputNode& second) {
  first.partitions.insert(first.partitions.end(), second.partitions.begin(),
                          second.partitions.end());
  if (first.num_rows >= 0) {
    first.num_rows += second.num_rows;
    first.num_bytes += second.num_bytes;
  }
  return MakeNode(std::move(first));
}

std::vector<Plan> Wrap(const NodeVariant& node, const std::vector<Plan>& trees) {
  std::vector<Plan> wrapped;
  for (const auto& tree : trees) {
    wrapped.push_back(wrapped.empty() ? MakeNode(node, {tree})
                                      : WithInputs(wrapped[0], {tree}));
  }
  return wrapped;
}

std::vector<Plan> InGroups(const std::vector<Plan>& trees, size_t group_size) {
  if (group_size == 1) return trees;
  std::vector<Plan> groups;
  for (size_t begin = 0; begin < trees.size(); begin += group_size) {
    const auto first = trees.begin() + static_cast<std::ptrdiff_t>(begin);
    const size_t size = std::min(group_size, trees.size() - begin);
    groups.push_back(
        MakeNode(UnionNode{}, {first, first + static_cast<std::ptrdiff_t>(size)}));
  }
  return groups;
}

arrow::Result<bool> AnyEncoded(const std::vector<Plan>& trees) {
  for (const auto& tree : trees) {
    ARROW_ASSIGN_OR_RAISE(const auto schema, OutputSchema(*tree));
    if (schema == nullptr) continue;
    const auto& fields = schema->fields();
    if (std::any_of(fields.begin(), fields.end(),
                    [](const auto& field) { return IsEncoded(*field); })) {
      return true;
    }
  }
  return false;
}

bool IsFunction(const PlanNode& tree) {
  return tree.kind() == NodeKind::kMapNative || tree.kind() == NodeKind::kMapPython;
}

ProjectNode ToSchema(const arrow::Schema& from, const arrow::Schema& to) {
  ProjectNode project;
  for (const auto& field : to.fields()) {
    auto own = from.GetFieldByName(field->name());
    auto value = col(field->name());
    if (own == nullptr) {
      own = arrow::field(field->name(), ValueType(field->type()));
      value = lit(arrow::MakeNullScalar(own->type()));
    }
    const bool is_same = own->type()->Equals(*field->type()) &&
                         WithDtypeOf(own, *field)->Equals(*own, /*check_metadata=*/true);
    if (!is_same) value = Widened(std::move(value), *own, *field);
    project.names.push_back(field->name());
    project.expressions.push_back(std::move(value));
  }
  return project;
}

arrow::Result<Plan> AsStored(const Plan& tree) {
  if (tree->kind() == NodeKind::kStageInput) {
    auto leaf = tree->as<StageInputNode>();
    leaf.as_stored = true;
    return MakeNode(std::move(leaf));
  }
  if (tree->kind() != NodeKind::kLiteral) return tree;
  const auto& literal = tree->as<LiteralNode>();
  if (literal.schema == nullptr) return tree;
  ARROW_ASSIGN_OR_RAISE(auto own, UnifySchemas(literal.partitions));
  if (own == nullptr || own->num_fields() == literal.schema->num_fields()) return tree;
  return MakeNode(
      LiteralNode{.schema = std::move(own), .partitions = literal.partitions});
}

}  // namespace xshards
