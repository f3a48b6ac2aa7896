// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/payload.h"

#include <algorithm>
#include <charconv>
#include <string_view>
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

arrow::Result<std::shared_ptr<arrow::Buffer>> ValueBuffer(const arrow::Array& column) {
  if (column.type_id() != arrow::Type::LARGE_BINARY || column.length() != 1) {
    return arrow::Status::Invalid("Expected one large_binary value, got ",
                                  column.length(), " values of type ", *column.type());
  }
  const auto& values = static_cast<const arrow::LargeBinaryArray&>(column);
  return arrow::SliceBuffer(values.value_data(), values.value_offset(0),
                            values.value_length(0));
}

std::string JoinShape(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t dimension : shape) text += std::to_string(dimension) + ",";
  return text;
}

/// The opposite of JoinShape: each number ends with a comma.
arrow::Result<std::vector<int64_t>> SplitShape(std::string_view text) {
  std::vector<int64_t> shape;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end; ++at) {
    int64_t dimension = -1;
    const auto [stop, error] = std::from_chars(at, end, dimension);
    if (error != std::errc() || dimension < 0 || stop == end || *stop != ',') {
      return arrow::Status::Invalid("Expected the shape of an array, got '", text, "'");
    }
    shape.push_back(dimension);
    at = stop;
  }
  return shape;
}

/// A note of an array's field.
arrow::Result<std::string> NoteOf(const arrow::Field& field, const std::string& key) {
  if (!field.HasMetadata()) {
    return arrow::Status::Invalid("Expected the '", key, "' of array ", field.name(),
                                  ", but the field has no metadata");
  }
  return field.metadata()->Get(key);
}

/// True if the columns are what Tensors() and Object() make.
bool HoldsBuffers(const arrow::Schema& schema) {
  return std::ranges::all_of(schema.fields(), [](const auto& field) {
    return field->type()->id() == arrow::Type::LARGE_BINARY;
  });
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
  if (*kind == "tensors" && HoldsBuffers(schema)) return PayloadKind::kTensors;
  if (*kind == "object" && HoldsBuffers(schema)) return PayloadKind::kObject;
  return PayloadKind::kTable;
}

std::shared_ptr<arrow::Schema> TableSchema(std::shared_ptr<arrow::Schema> schema) {
  if (schema->metadata() == nullptr) return schema;
  auto metadata = schema->metadata()->Copy();
  const bool was_marked = metadata->Delete(kKindKey).ok();
  const bool had_structure = metadata->Delete(kStructureKey).ok();
  if (!was_marked && !had_structure) return schema;
  return schema->WithMetadata(metadata->size() == 0 ? nullptr : std::move(metadata));
}

Payload::Payload(PayloadKind kind, std::shared_ptr<arrow::Schema> schema,
                 arrow::RecordBatchVector batches)
    : kind_(kind), schema_(std::move(schema)), batches_(std::move(batches)) {}

Payload Payload::Table(std::shared_ptr<arrow::Schema> schema,
                       arrow::RecordBatchVector batches) {
  if (schema != nullptr) schema = TableSchema(std::move(schema));
  for (auto& batch : batches) {
    auto own = TableSchema(batch->schema());
    if (own == batch->schema()) continue;
    batch = arrow::RecordBatch::Make(std::move(own), batch->num_rows(), batch->columns());
  }
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
    ARROW_ASSIGN_OR_RAISE(const auto text, NoteOf(*field, kShapeKey));
    ARROW_ASSIGN_OR_RAISE(auto shape, SplitShape(text));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

arrow::Result<std::vector<TensorLeaf>> Payload::tensor_leaves() const {
  ARROW_RETURN_NOT_OK(CheckKind(*this, PayloadKind::kTensors));
  ARROW_ASSIGN_OR_RAISE(auto shapes, TensorShapes(*schema_));
  std::vector<TensorLeaf> leaves;
  for (int i = 0; i < schema_->num_fields(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto dtype, NoteOf(*schema_->field(i), kArrayDtypeKey));
    ARROW_ASSIGN_OR_RAISE(auto data, ValueBuffer(*batches_[0]->column(i)));
    leaves.push_back({.dtype = std::move(dtype),
                      .shape = std::move(shapes[static_cast<size_t>(i)]),
                      .data = std::move(data)});
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
    ARROW_ASSIGN_OR_RAISE(auto buffer, ValueBuffer(*column));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

}  // namespace xshards
