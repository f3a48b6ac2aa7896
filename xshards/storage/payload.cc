// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/payload.h"

#include <sstream>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace xshards {

namespace {

constexpr char kKindKey[] = "xshards.payload";
constexpr char kStructureKey[] = "xshards.structure";
constexpr char kArrayDtypeKey[] = "dtype";
constexpr char kShapeKey[] = "shape";

/// A column of one large_binary value that shares the buffer.
std::shared_ptr<arrow::Array> SingleValue(const std::shared_ptr<arrow::Buffer>& data) {
  auto offsets = arrow::Buffer::FromVector(std::vector<int64_t>{0, data->size()});
  return std::make_shared<arrow::LargeBinaryArray>(1, offsets, data);
}

std::shared_ptr<arrow::Buffer> ValueBuffer(const arrow::Array& column) {
  const auto& values = static_cast<const arrow::LargeBinaryArray&>(column);
  return arrow::SliceBuffer(values.value_data(), values.value_offset(0),
                            values.value_length(0));
}

std::string JoinShape(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t dimension : shape) text += std::to_string(dimension) + ",";
  return text;
}

std::vector<int64_t> SplitShape(const std::string& text) {
  std::vector<int64_t> shape;
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) shape.push_back(std::stoll(part));
  return shape;
}

arrow::Status CheckKind(const Payload& payload, PayloadKind expected) {
  if (payload.kind() == expected) return arrow::Status::OK();
  return arrow::Status::TypeError("Expected a ", ToString(expected), " payload, got a ",
                                  ToString(payload.kind()));
}

}  // namespace

const char* ToString(PayloadKind kind) {
  switch (kind) {
    case PayloadKind::kTable:
      return "Table";
    case PayloadKind::kTensors:
      return "Tensors";
    case PayloadKind::kObject:
      return "Object";
  }
  return "unknown";
}

PayloadKind KindOf(const arrow::Schema& schema) {
  if (schema.metadata() == nullptr) return PayloadKind::kTable;
  auto kind = schema.metadata()->Get(kKindKey);
  if (!kind.ok()) return PayloadKind::kTable;
  return *kind == "tensors" ? PayloadKind::kTensors : PayloadKind::kObject;
}

Payload::Payload(PayloadKind kind, std::shared_ptr<arrow::Schema> schema,
                 arrow::RecordBatchVector batches)
    : kind_(kind), schema_(std::move(schema)), batches_(std::move(batches)) {}

Payload Payload::Table(std::shared_ptr<arrow::Schema> schema,
                       arrow::RecordBatchVector batches) {
  return {PayloadKind::kTable, std::move(schema), std::move(batches)};
}

arrow::Result<Payload> Payload::Tensors(const std::vector<TensorLeaf>& leaves,
                                        const std::string& structure) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const TensorLeaf& leaf = leaves[i];
    auto metadata = arrow::key_value_metadata({kArrayDtypeKey, kShapeKey},
                                              {leaf.dtype, JoinShape(leaf.shape)});
    fields.push_back(arrow::field(std::to_string(i), arrow::large_binary(),
                                  /*nullable=*/false, std::move(metadata)));
    columns.push_back(SingleValue(leaf.data));
  }
  auto schema = arrow::schema(
      std::move(fields),
      arrow::key_value_metadata({kKindKey, kStructureKey}, {"tensors", structure}));
  auto batch = arrow::RecordBatch::Make(schema, 1, std::move(columns));
  return Payload(PayloadKind::kTensors, std::move(schema), {std::move(batch)});
}

arrow::Result<Payload> Payload::Object(const std::shared_ptr<arrow::Buffer>& pickle,
                                       const arrow::BufferVector& out_of_band) {
  arrow::FieldVector fields = {
      arrow::field("pickle", arrow::large_binary(), /*nullable=*/false)};
  arrow::ArrayVector columns = {SingleValue(pickle)};
  for (size_t i = 0; i < out_of_band.size(); ++i) {
    fields.push_back(arrow::field(std::to_string(i), arrow::large_binary(),
                                  /*nullable=*/false));
    columns.push_back(SingleValue(out_of_band[i]));
  }
  auto schema =
      arrow::schema(std::move(fields), arrow::key_value_metadata({kKindKey}, {"object"}));
  auto batch = arrow::RecordBatch::Make(schema, 1, std::move(columns));
  return Payload(PayloadKind::kObject, std::move(schema), {std::move(batch)});
}

Payload Payload::FromBatch(std::shared_ptr<arrow::RecordBatch> batch) {
  auto schema = batch->schema();
  PayloadKind kind = KindOf(*schema);
  return {kind, std::move(schema), {std::move(batch)}};
}

int64_t Payload::num_rows() const {
  int64_t rows = 0;
  for (const auto& batch : batches_) rows += batch->num_rows();
  return rows;
}

arrow::Result<std::vector<std::vector<int64_t>>> TensorShapes(
    const arrow::Schema& schema) {
  std::vector<std::vector<int64_t>> shapes;
  for (const auto& field : schema.fields()) {
    ARROW_ASSIGN_OR_RAISE(auto shape, field->metadata()->Get(kShapeKey));
    shapes.push_back(SplitShape(shape));
  }
  return shapes;
}

arrow::Result<std::vector<TensorLeaf>> Payload::tensor_leaves() const {
  ARROW_RETURN_NOT_OK(CheckKind(*this, PayloadKind::kTensors));
  ARROW_ASSIGN_OR_RAISE(auto shapes, TensorShapes(*schema_));
  std::vector<TensorLeaf> leaves;
  for (int i = 0; i < schema_->num_fields(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto dtype, schema_->field(i)->metadata()->Get(kArrayDtypeKey));
    leaves.push_back({.dtype = std::move(dtype),
                      .shape = std::move(shapes[static_cast<size_t>(i)]),
                      .data = ValueBuffer(*batches_[0]->column(i))});
  }
  return leaves;
}

arrow::Result<std::string> Payload::tensor_structure() const {
  ARROW_RETURN_NOT_OK(CheckKind(*this, PayloadKind::kTensors));
  return schema_->metadata()->Get(kStructureKey);
}

arrow::Result<arrow::BufferVector> Payload::object_buffers() const {
  ARROW_RETURN_NOT_OK(CheckKind(*this, PayloadKind::kObject));
  arrow::BufferVector buffers;
  for (const auto& column : batches_[0]->columns()) {
    buffers.push_back(ValueBuffer(*column));
  }
  return buffers;
}

}  // namespace xshards
