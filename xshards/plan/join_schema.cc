// SPDX-License-Identifier: Apache-2.0
// What a join's output looks like: which keys can meet, and what becomes of them.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <arrow/type.h>

#include "xshards/plan/output_schema.h"
#include "xshards/plan/plan.h"
#include "xshards/types/common_type.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

bool IsTextKey(const arrow::DataType& type) {
  return arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type);
}

std::string DescribeKeys(const std::string& left_name, const arrow::DataType& left,
                         const std::string& right_name, const arrow::DataType& right) {
  return "'" + left_name + "' (" + left.ToString() + ") with '" + right_name + "' (" +
         right.ToString() + ")";
}

bool IsTime(const arrow::DataType& type) {
  return arrow::is_temporal(type.id()) || type.id() == arrow::Type::DURATION;
}

bool HasZone(const arrow::DataType& type) {
  return type.id() == arrow::Type::TIMESTAMP &&
         !static_cast<const arrow::TimestampType&>(type).timezone().empty();
}

/// Keys that pandas also compares by value: numbers of any kind, text, times.
bool CanEqual(const arrow::DataType& left, const arrow::DataType& right) {
  if (left.id() == arrow::Type::NA || right.id() == arrow::Type::NA) return true;
  if (IsTextKey(left) != IsTextKey(right) || IsTime(left) != IsTime(right)) return false;
  if ((left.id() == arrow::Type::DURATION) != (right.id() == arrow::Type::DURATION)) {
    return false;
  }
  const bool bool_beside_decimal =
      (left.id() == arrow::Type::BOOL && arrow::is_decimal(right.id())) ||
      (right.id() == arrow::Type::BOOL && arrow::is_decimal(left.id()));
  if (bool_beside_decimal) return false;
  return left.id() != arrow::Type::TIMESTAMP || right.id() != arrow::Type::TIMESTAMP ||
         HasZone(left) == HasZone(right);
}

/// The key of times in two units has the finer one. nullptr for other types.
std::shared_ptr<arrow::Field> InFinerUnit(const std::shared_ptr<arrow::Field>& left,
                                          const arrow::DataType& right) {
  if (left->type()->id() != arrow::Type::TIMESTAMP ||
      right.id() != arrow::Type::TIMESTAMP) {
    return nullptr;
  }
  const auto& own = static_cast<const arrow::TimestampType&>(*left->type());
  const auto unit =
      std::max(own.unit(), static_cast<const arrow::TimestampType&>(right).unit());
  return left->WithType(arrow::timestamp(unit, own.timezone()));
}

/// The common key of booleans and numbers: of object dtype in pandas, with values of
/// both. nullptr for other types.
std::shared_ptr<arrow::Field> BoolBesideNumber(JoinType type,
                                               const std::shared_ptr<arrow::Field>& left,
                                               const arrow::DataType& right) {
  const bool is_bool = left->type()->id() == arrow::Type::BOOL;
  if (is_bool == (right.id() == arrow::Type::BOOL)) return nullptr;
  const auto common = NumericCommonType(*left->type(), right);
  if (common == nullptr) return nullptr;
  const bool is_lefts = type == JoinType::kInner || type == JoinType::kLeft;
  return AsObjects(is_lefts ? left : left->WithType(common));
}

/// The key column that both sides share. It is that of the left if all its values come
/// from there.
arrow::Result<std::shared_ptr<arrow::Field>> SharedKey(
    JoinType type, const std::shared_ptr<arrow::Field>& left,
    const std::shared_ptr<arrow::Field>& right) {
  if (FamilyOf(*left) == DtypeFamily::kCategory ||
      FamilyOf(*right) == DtypeFamily::kCategory) {
    return CommonField(left, right);
  }
  if (auto objects = BoolBesideNumber(type, left, *right->type())) return objects;
  if (auto times = InFinerUnit(left, *right->type())) return times;
  if (left->type()->id() != arrow::Type::NA &&
      (type == JoinType::kInner || type == JoinType::kLeft || HasZone(*left->type()))) {
    return left;
  }
  return CommonField(left, right);
}

/// Check the keys; returns the shared ones by name.
arrow::Result<std::map<std::string, std::shared_ptr<arrow::Field>>> JoinKeys(
    const JoinNode& node, const arrow::Schema& left, const arrow::Schema& right) {
  std::map<std::string, std::shared_ptr<arrow::Field>> shared;
  for (size_t i = 0; i < node.left_keys.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto left_field, KeyField(node.left_keys[i], left));
    ARROW_ASSIGN_OR_RAISE(auto right_field, KeyField(node.right_keys[i], right));
    const auto left_type = ValueType(left_field->type());
    const auto right_type = ValueType(right_field->type());
    if (!CanEqual(*left_type, *right_type)) {
      return arrow::Status::TypeError(
          "Cannot join ",
          DescribeKeys(node.left_keys[i], *left_type, node.right_keys[i], *right_type),
          ": cast one of them to the type of the other");
    }
    if (node.left_keys[i] != node.right_keys[i]) continue;
    ARROW_ASSIGN_OR_RAISE(auto key, SharedKey(node.type, left_field, right_field));
    shared[node.left_keys[i]] = key->WithType(ValueType(key->type()));
  }
  return shared;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Schema>> JoinSchema(const JoinNode& node,
                                                         const arrow::Schema& left,
                                                         const arrow::Schema& right) {
  const bool is_cross = node.type == JoinType::kCross;
  if (node.left_keys.size() != node.right_keys.size() ||
      node.left_keys.empty() != is_cross) {
    if (is_cross) return arrow::Status::Invalid("A cross join has no keys");
    return arrow::Status::Invalid(
        "A join needs the same number of keys on the left and the "
        "right, and at least one; got ",
        node.left_keys.size(), " and ", node.right_keys.size());
  }
  ARROW_ASSIGN_OR_RAISE(auto shared, JoinKeys(node, left, right));
  if (node.type == JoinType::kSemi || node.type == JoinType::kAnti) {
    return arrow::schema(left.fields(), left.metadata());
  }
  arrow::FieldVector fields;
  const auto add = [&](const std::shared_ptr<arrow::Field>& field,
                       const arrow::Schema& other, const std::string& suffix,
                       JoinType all_matched) {
    const bool clash = other.GetFieldIndex(field->name()) >= 0;
    auto joined = Renamed(field, clash ? field->name() + suffix : field->name())
                      ->WithNullable(true);
    const bool matched = node.type == JoinType::kInner || node.type == all_matched ||
                         node.type == JoinType::kCross;
    fields.push_back(matched ? joined : WithUnmatchedRows(joined));
  };
  for (const auto& field : left.fields()) {
    const auto key = shared.find(field->name());
    if (key != shared.end()) {
      fields.push_back(key->second);
    } else {
      add(field, right, node.left_suffix, JoinType::kLeft);
    }
  }
  for (const auto& field : right.fields()) {
    if (!shared.contains(field->name())) {
      add(field, left, node.right_suffix, JoinType::kRight);
    }
  }
  auto schema = arrow::schema(std::move(fields));
  for (const auto& field : schema->fields()) {
    if (schema->GetFieldIndex(field->name()) >= 0) continue;
    return arrow::Status::Invalid("The join result would have two columns named '",
                                  field->name(), "'; choose other suffixes");
  }
  return schema;
}

}  // namespace xshards
