// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/tensor_block.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "learn/feed/fill_column.h"

namespace xshards::learn {

namespace {

// Few enough rows that this part of the tensor stays in the first-level cache while the
// columns are written into it one by one.
constexpr int64_t kRowsAtOnce = 1024;

/// A column as numbers, `cell` of them per row.
struct Flattened {
  std::shared_ptr<arrow::Array> values;
  std::vector<int64_t> cell;
};

int64_t ProductOf(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t dimension : shape) product *= dimension;
  return product;
}

/// The common length of the cells of a list column.
template <typename ListType>
arrow::Result<int64_t> CellLength(const arrow::Array& column) {
  using ArrayType = typename arrow::TypeTraits<ListType>::ArrayType;
  const auto& lists = static_cast<const ArrayType&>(column);
  const int64_t length = lists.length() == 0 ? 0 : lists.value_length(0);
  for (int64_t i = 1; i < lists.length(); ++i) {
    if (lists.value_length(i) == length) continue;
    return arrow::Status::Invalid(
        "all its lists must have the same length, but row 0 has ", length,
        " values and row ", i, " has ", lists.value_length(i));
  }
  return length;
}

arrow::Result<Flattened> FlattenLists(const std::shared_ptr<arrow::Array>& column);

arrow::Result<Flattened> Flatten(const std::shared_ptr<arrow::Array>& column) {
  switch (column->type_id()) {
    case arrow::Type::EXTENSION: {
      const auto& extended = static_cast<const arrow::ExtensionArray&>(*column);
      ARROW_ASSIGN_OR_RAISE(auto inner, Flatten(extended.storage()));
      const auto* tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(
          column->type().get());
      if (tensor != nullptr) inner.cell = tensor->shape();
      return inner;
    }
    case arrow::Type::DICTIONARY: {
      const auto& type =
          arrow::internal::checked_cast<const arrow::DictionaryType&>(*column->type());
      ARROW_ASSIGN_OR_RAISE(auto decoded,
                            arrow::compute::Cast(*column, type.value_type()));
      return Flatten(decoded);
    }
    case arrow::Type::HALF_FLOAT: {
      ARROW_ASSIGN_OR_RAISE(auto wide, arrow::compute::Cast(*column, arrow::float32()));
      return Flattened{std::move(wide), {}};
    }
    case arrow::Type::FIXED_SIZE_LIST:
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      return FlattenLists(column);
    default:
      break;
  }
  if (arrow::is_decimal(column->type_id())) {
    ARROW_ASSIGN_OR_RAISE(auto wide, arrow::compute::Cast(*column, arrow::float64()));
    return Flattened{std::move(wide), {}};
  }
  return Flattened{column, {}};
}

arrow::Result<Flattened> FlattenLists(const std::shared_ptr<arrow::Array>& column) {
  if (column->null_count() > 0) {
    return arrow::Status::Invalid("it has ", column->null_count(),
                                  " missing values; drop these rows or fill them first");
  }
  int64_t length = 0;
  std::shared_ptr<arrow::Array> values;
  if (column->type_id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*column);
    length = lists.list_type()->list_size();
    values = lists.values()->Slice(lists.value_offset(0), lists.length() * length);
  } else if (column->type_id() == arrow::Type::LIST) {
    const auto& lists = static_cast<const arrow::ListArray&>(*column);
    ARROW_ASSIGN_OR_RAISE(length, CellLength<arrow::ListType>(*column));
    values = lists.values()->Slice(lists.value_offset(0), lists.length() * length);
  } else {
    const auto& lists = static_cast<const arrow::LargeListArray&>(*column);
    ARROW_ASSIGN_OR_RAISE(length, CellLength<arrow::LargeListType>(*column));
    values = lists.values()->Slice(lists.value_offset(0), lists.length() * length);
  }
  ARROW_ASSIGN_OR_RAISE(auto inner, Flatten(values));
  inner.cell.insert(inner.cell.begin(), length);
  return inner;
}

/// The values' own bytes if they have the tensor's layout; else nullptr.
std::shared_ptr<arrow::Buffer> BytesAsTheyAre(const arrow::Array& values,
                                              TensorType type) {
  if (values.null_count() > 0 || values.type_id() == arrow::Type::BOOL) return nullptr;
  const int64_t width = ByteWidth(type);
  const bool same = VisitTensorType(type, [&](auto element) {
    return values.type_id() == arrow::CTypeTraits<decltype(element)>::ArrowType::type_id;
  });
  if (!same) return nullptr;
  return arrow::SliceBuffer(values.data()->buffers[1], values.offset() * width,
                            values.length() * width);
}

/// torch cannot compute with 64-bit unsigned tensors: such values are fed as int64.
arrow::Status CheckUnsigned(const std::string& name, const arrow::Array& values) {
  if (values.type_id() != arrow::Type::UINT64) return arrow::Status::OK();
  const auto& numbers = static_cast<const arrow::UInt64Array&>(values);
  for (int64_t i = 0; i < numbers.length(); ++i) {
    if (numbers.Value(i) <= uint64_t{std::numeric_limits<int64_t>::max()}) continue;
    return arrow::Status::Invalid(
        "column '", name, "' holds ", numbers.Value(i),
        ", which does not fit into an int64 tensor; use dtype float64");
  }
  return arrow::Status::OK();
}

/// Whether a tensor of this type can represent a column's values.
arrow::Status CheckValues(const std::string& name, const arrow::Array& values,
                          TensorType type) {
  if (type == TensorType::kFloat32 || type == TensorType::kFloat64) {
    return arrow::Status::OK();
  }
  if (values.null_count() == 0) return CheckUnsigned(name, values);
  return arrow::Status::Invalid("column '", name, "' has ", values.null_count(),
                                " missing values, which a tensor of ", NumpyName(type),
                                " cannot represent: fill them, drop these rows, or "
                                "use a float dtype");
}

arrow::Result<Flattened> FlattenColumn(const arrow::RecordBatch& batch,
                                       const std::string& name) {
  const auto column = batch.GetColumnByName(name);
  if (column == nullptr) {
    std::string names;
    for (const auto& field : batch.schema()->fields())
      names += " '" + field->name() + "'";
    return arrow::Status::KeyError("no column '", name, "'; the columns are", names);
  }
  auto flattened = Flatten(column);
  if (!flattened.ok()) {
    return flattened.status().WithMessage("column '", name,
                                          "': ", flattened.status().message());
  }
  return flattened;
}

arrow::Result<TensorType> TypeOf(const TensorSpec& spec,
                                 const std::vector<Flattened>& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::shared_ptr<arrow::DataType> one[] = {columns[i].values->type()};
    if (const auto type = CommonTensorType(one); !type.ok()) {
      return type.status().WithMessage("column '", spec.columns[i],
                                       "': ", type.status().message(),
                                       "; convert it to numbers first, for example with "
                                       "StringIndexer");
    }
  }
  if (spec.type.has_value()) return *spec.type;
  std::vector<std::shared_ptr<arrow::DataType>> types;
  for (const Flattened& column : columns) types.push_back(column.values->type());
  return CommonTensorType(types);
}

/// Cast columns and interleave them.
arrow::Status Interleave(const std::vector<Flattened>& columns, TensorType type,
                         int64_t num_values, uint8_t* out) {
  const auto stride = static_cast<int64_t>(columns.size());
  const int64_t width = ByteWidth(type);
  std::vector<FillColumn> fills;
  for (const Flattened& column : columns) {
    ARROW_ASSIGN_OR_RAISE(auto fill, FillColumnFor(*column.values->type(), type));
    fills.push_back(fill);
  }
  for (int64_t begin = 0; begin < num_values; begin += kRowsAtOnce) {
    const int64_t length = std::min(kRowsAtOnce, num_values - begin);
    for (size_t i = 0; i < columns.size(); ++i) {
      uint8_t* first = out + (begin * stride + static_cast<int64_t>(i)) * width;
      fills[i](*columns[i].values, begin, length, first, stride);
    }
  }
  return arrow::Status::OK();
}

arrow::Result<Tensor> MakeTensor(const TensorSpec& spec, const arrow::RecordBatch& batch,
                                 arrow::MemoryPool* pool) {
  if (spec.columns.empty()) return arrow::Status::Invalid("a tensor needs a column");
  std::vector<Flattened> columns;
  for (const std::string& name : spec.columns) {
    ARROW_ASSIGN_OR_RAISE(auto column, FlattenColumn(batch, name));
    if (spec.columns.size() > 1 && !column.cell.empty()) {
      return arrow::Status::TypeError(
          "column '", name, "' holds ", batch.GetColumnByName(name)->type()->ToString(),
          ", which cannot be stacked with other columns; give it a tensor of its own");
    }
    columns.push_back(std::move(column));
  }
  ARROW_ASSIGN_OR_RAISE(const TensorType type, TypeOf(spec, columns));
  for (size_t i = 0; i < columns.size(); ++i) {
    ARROW_RETURN_NOT_OK(CheckValues(spec.columns[i], *columns[i].values, type));
  }
  Tensor tensor{.row = {.type = type, .shape = columns[0].cell}, .data = nullptr};
  if (columns.size() == 1) {
    tensor.data = BytesAsTheyAre(*columns[0].values, type);
  } else {
    tensor.row.shape = {static_cast<int64_t>(columns.size())};
  }
  if (tensor.data == nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        tensor.data,
        arrow::AllocateBuffer(batch.num_rows() * tensor.row.num_bytes(), pool));
    ARROW_RETURN_NOT_OK(Interleave(columns, type, columns[0].values->length(),
                                   tensor.data->mutable_data()));
  }
  return tensor;
}

}  // namespace

int64_t RowLayout::num_elements() const { return ProductOf(shape); }

std::string ToString(const RowLayout& layout) {
  std::string text = std::string(NumpyName(layout.type)) + "[";
  for (size_t i = 0; i < layout.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(layout.shape[i]);
  }
  return text + "]";
}

TensorBlock TensorBlock::Slice(int64_t begin, int64_t length) const {
  TensorBlock slice{.num_rows = length, .tensors = {}};
  slice.tensors.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    const int64_t width = tensor.row.num_bytes();
    auto data =
        tensor.data->is_mutable()
            ? arrow::SliceMutableBuffer(tensor.data, begin * width, length * width)
            : arrow::SliceBuffer(tensor.data, begin * width, length * width);
    slice.tensors.push_back({tensor.row, std::move(data)});
  }
  return slice;
}

arrow::Result<TensorBlock> ToTensors(const std::vector<TensorSpec>& specs,
                                     const arrow::RecordBatch& batch,
                                     arrow::MemoryPool* pool) {
  TensorBlock block{.num_rows = batch.num_rows(), .tensors = {}};
  for (const TensorSpec& spec : specs) {
    ARROW_ASSIGN_OR_RAISE(auto tensor, MakeTensor(spec, batch, pool));
    block.tensors.push_back(std::move(tensor));
  }
  return block;
}

arrow::Result<TensorBlock> ToTensors(const Payload& payload) {
  ARROW_ASSIGN_OR_RAISE(auto leaves, payload.tensor_leaves());
  TensorBlock block;
  for (size_t i = 0; i < leaves.size(); ++i) {
    TensorLeaf& leaf = leaves[i];
    if (leaf.shape.empty()) {
      return arrow::Status::Invalid("array ", i,
                                    " of a shard is a scalar; arrays "
                                    "to feed need rows as their first dimension");
    }
    if (i == 0) block.num_rows = leaf.shape.front();
    if (leaf.shape.front() != block.num_rows) {
      return arrow::Status::Invalid(
          "the arrays of a shard must have the same number of "
          "rows, but array 0 has ",
          block.num_rows, " and array ", i, " has ", leaf.shape.front());
    }
    ARROW_ASSIGN_OR_RAISE(const TensorType type, TensorTypeFromNumpy(leaf.dtype));
    block.tensors.push_back(
        {{.type = type, .shape = {leaf.shape.begin() + 1, leaf.shape.end()}},
         std::move(leaf.data)});
  }
  return block;
}

}  // namespace xshards::learn
