// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/key_columns.h"

#include <utility>

#include <arrow/array/array_nested.h>
#include <arrow/buffer.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/util/bitmap_ops.h>

#include "ops/kernels/decoded_values.h"
#include "ops/keys/key_equality.h"
#include "ops/keys/row_encoder.h"

namespace xshards::ops {

namespace {

using arrow::Type;
using ArrayResult = arrow::Result<std::shared_ptr<arrow::Array>>;

// The validity of an array whose rows start at 0, as those of our own arrays do.
arrow::Result<std::shared_ptr<arrow::Buffer>> Validity(const arrow::Array& array,
                                                       arrow::MemoryPool* pool) {
  if (array.null_count() == 0) return nullptr;
  return arrow::internal::CopyBitmap(pool, array.null_bitmap_data(), array.offset(),
                                     array.length());
}

ArrayResult EncodeStruct(const arrow::StructArray& array, arrow::MemoryPool* pool) {
  arrow::ArrayVector children;
  for (const auto& field : array.fields()) {
    ARROW_ASSIGN_OR_RAISE(auto child, KeyColumn(field, pool));
    children.push_back(std::move(child));
  }
  ARROW_ASSIGN_OR_RAISE(auto rows, EncodeKeys(children, array.length(), pool));
  ARROW_ASSIGN_OR_RAISE(auto validity, Validity(array, pool));
  return std::make_shared<arrow::LargeBinaryArray>(
      array.length(), rows.offsets_buffer(), rows.bytes_buffer(), std::move(validity),
      array.null_count());
}

// The encodings of a list's elements are contiguous, so a list's bytes are a range of
// them: only the offsets are new. The values may begin anywhere (a slice).
template <typename ListArray>
ArrayResult EncodeList(const ListArray& array, arrow::MemoryPool* pool) {
  const int64_t begin = array.length() == 0 ? 0 : array.value_offset(0);
  const int64_t end = array.length() == 0 ? 0 : array.value_offset(array.length());
  ARROW_ASSIGN_OR_RAISE(auto values,
                        KeyColumn(array.values()->Slice(begin, end - begin), pool));
  ARROW_ASSIGN_OR_RAISE(auto elements, EncodeKeys({values}, end - begin, pool));
  const auto num_bytes = (array.length() + 1) * static_cast<int64_t>(sizeof(int64_t));
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(num_bytes, pool));
  auto* offsets = buffer->template mutable_data_as<int64_t>();
  offsets[0] = 0;
  for (int64_t i = 0; i < array.length(); ++i) {
    offsets[i + 1] = elements.offset(array.value_offset(i + 1) - begin);
  }
  ARROW_ASSIGN_OR_RAISE(auto validity, Validity(array, pool));
  return std::make_shared<arrow::LargeBinaryArray>(
      array.length(), std::shared_ptr<arrow::Buffer>(std::move(buffer)),
      elements.bytes_buffer(), std::move(validity), array.null_count());
}

std::string ListNames(const arrow::Schema& schema) {
  std::string names;
  for (const auto& field : schema.fields()) {
    if (!names.empty()) names += ", ";
    names += field->name();
  }
  return names;
}

}  // namespace

bool IsPlainKey(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::NA:
    case Type::BOOL:
    case Type::FLOAT:
    case Type::DOUBLE:
      return true;
    default:
      return arrow::is_integer(type.id()) || IsBytesKey(type) ||
             (arrow::is_temporal(type.id()) && !arrow::is_interval(type.id())) ||
             type.id() == Type::DURATION;
  }
}

bool IsBytesKey(const arrow::DataType& type) {
  return arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type.id()) ||
         type.id() == Type::FIXED_SIZE_BINARY || arrow::is_decimal(type.id());
}

arrow::Result<std::vector<int>> FindColumns(const arrow::Schema& schema,
                                            const std::vector<std::string>& names) {
  std::vector<int> positions;
  for (const auto& name : names) {
    const auto found = schema.GetAllFieldIndices(name);
    if (found.size() != 1) {
      return arrow::Status::KeyError(
          found.empty() ? "There is no column '" : "There are several columns '", name,
          "'; there are: ", ListNames(schema));
    }
    positions.push_back(found[0]);
  }
  return positions;
}

ArrayResult KeyColumn(const std::shared_ptr<arrow::Array>& column,
                      arrow::MemoryPool* pool) {
  const arrow::DataType& type = *column->type();
  if (IsPlainKey(type)) return column;
  switch (type.id()) {
    case Type::HALF_FLOAT: {
      arrow::compute::ExecContext exec(pool);
      exec.set_use_threads(false);
      ARROW_ASSIGN_OR_RAISE(auto wide,
                            arrow::compute::Cast(column, arrow::float32(),
                                                 arrow::compute::CastOptions(), &exec));
      return wide.make_array();
    }
    case Type::DICTIONARY:
    case Type::RUN_END_ENCODED: {
      ARROW_ASSIGN_OR_RAISE(auto values, Decode(column, pool));
      return KeyColumn(values, pool);
    }
    case Type::EXTENSION:
      return KeyColumn(static_cast<const arrow::ExtensionArray&>(*column).storage(),
                       pool);
    case Type::STRUCT:
      return EncodeStruct(static_cast<const arrow::StructArray&>(*column), pool);
    case Type::LIST:
    case Type::MAP:
      return EncodeList(static_cast<const arrow::ListArray&>(*column), pool);
    case Type::LARGE_LIST:
      return EncodeList(static_cast<const arrow::LargeListArray&>(*column), pool);
    case Type::FIXED_SIZE_LIST:
      return EncodeList(static_cast<const arrow::FixedSizeListArray&>(*column), pool);
    default:
      return arrow::Status::NotImplemented("A column of type ", type.ToString(),
                                           " cannot be a key");
  }
}

arrow::Result<arrow::ArrayVector> KeyColumns(const arrow::RecordBatch& batch,
                                             const std::vector<int>& positions,
                                             arrow::MemoryPool* pool) {
  arrow::ArrayVector columns;
  for (int position : positions) {
    const auto& own = batch.column(position);
    if (own->type_id() == Type::DICTIONARY && IsPlainKey(*DecodedType(own->type()))) {
      columns.push_back(own);
      continue;
    }
    auto column = KeyColumn(own, pool);
    if (!column.ok()) {
      return column.status().WithMessage("Column '", batch.column_name(position),
                                         "': ", column.status().message());
    }
    columns.push_back(column.MoveValueUnsafe());
  }
  return columns;
}

}  // namespace xshards::ops
