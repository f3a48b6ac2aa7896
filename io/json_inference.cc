// SPDX-License-Identifier: Apache-2.0
#include "io/json_inference.h"

#include <utility>

namespace xshards::io {
namespace {

// Rebuild a list or an object from what `map` makes of its parts; other types go to
// `map` themselves.
template <typename Map>
std::shared_ptr<arrow::DataType> MapLeaves(const std::shared_ptr<arrow::DataType>& type,
                                           const Map& map) {
  switch (type->id()) {
    case arrow::Type::LIST:
      return arrow::list(MapLeaves(type->field(0)->type(), map));
    case arrow::Type::STRUCT: {
      arrow::FieldVector fields;
      for (const auto& field : type->fields()) {
        fields.push_back(arrow::field(field->name(), MapLeaves(field->type(), map)));
      }
      return arrow::struct_(fields);
    }
    default:
      return map(type);
  }
}

arrow::Result<arrow::FieldVector> WidenFields(const arrow::FieldVector& left,
                                              const arrow::FieldVector& right) {
  arrow::FieldVector fields = left;
  for (const auto& field : right) {
    auto same = fields.begin();
    while (same != fields.end() && (*same)->name() != field->name()) ++same;
    if (same == fields.end()) {
      fields.push_back(field);
      continue;
    }
    auto type = WidenJson((*same)->type(), field->type());
    if (!type.ok()) {
      return type.status().WithMessage("Key '", field->name(),
                                       "': ", type.status().message());
    }
    *same = arrow::field(field->name(), type.MoveValueUnsafe());
  }
  return fields;
}

bool IsNumber(const arrow::DataType& type) {
  return type.id() == arrow::Type::INT64 || type.id() == arrow::Type::DOUBLE;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::DataType>> WidenJson(
    const std::shared_ptr<arrow::DataType>& left,
    const std::shared_ptr<arrow::DataType>& right) {
  if (left->Equals(*right) || right->id() == arrow::Type::NA) return left;
  if (left->id() == arrow::Type::NA) return right;
  if (IsNumber(*left) && IsNumber(*right)) return arrow::float64();
  if (left->id() == arrow::Type::LIST && right->id() == arrow::Type::LIST) {
    ARROW_ASSIGN_OR_RAISE(auto value,
                          WidenJson(left->field(0)->type(), right->field(0)->type()));
    return arrow::list(std::move(value));
  }
  if (left->id() == arrow::Type::STRUCT && right->id() == arrow::Type::STRUCT) {
    ARROW_ASSIGN_OR_RAISE(auto fields, WidenFields(left->fields(), right->fields()));
    return arrow::struct_(fields);
  }
  return arrow::Status::TypeError("Expected values of one type, got ", left->ToString(),
                                  " and ", right->ToString());
}

arrow::Result<std::shared_ptr<arrow::Schema>> WidenJson(const arrow::Schema& left,
                                                        const arrow::Schema& right) {
  ARROW_ASSIGN_OR_RAISE(auto fields, WidenFields(left.fields(), right.fields()));
  return arrow::schema(std::move(fields));
}

std::shared_ptr<arrow::DataType> PlainJsonType(
    const std::shared_ptr<arrow::DataType>& type) {
  return MapLeaves(type, [](const std::shared_ptr<arrow::DataType>& leaf) {
    switch (leaf->id()) {
      case arrow::Type::NA:
      case arrow::Type::BOOL:
      case arrow::Type::INT64:
      case arrow::Type::DOUBLE:
        return leaf;
      default:
        return arrow::large_utf8();
    }
  });
}

std::shared_ptr<arrow::DataType> SettleJsonType(
    const std::shared_ptr<arrow::DataType>& type) {
  return MapLeaves(type, [](const std::shared_ptr<arrow::DataType>& leaf) {
    return leaf->id() == arrow::Type::NA ? arrow::float64() : leaf;
  });
}

}  // namespace xshards::io
