// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/dictionary_encoding.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_dict.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/util/bitmap_ops.h>

#include "xshards/types/dictionary_indices.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

// Text is copied in blocks of this many bytes: cheaper than the exact length.
constexpr size_t kStep = 16;

/// The strings of a dictionary, and an empty one for null rows. There is room after the
/// last for a full copy step.
class Texts {
 public:
  explicit Texts(const arrow::LargeBinaryArray& values)
      : spans_(static_cast<size_t>(values.length()) + 1) {
    const int64_t begin = values.length() == 0 ? 0 : values.value_offset(0);
    const int64_t size = values.total_values_length();
    bytes_.resize(static_cast<size_t>(size) + kStep);
    if (size > 0) {
      std::memcpy(bytes_.data(), values.raw_data() + begin, static_cast<size_t>(size));
    }
    for (int64_t i = 0; i < values.length(); ++i) {
      spans_[static_cast<size_t>(i)] = {
          static_cast<size_t>(values.value_offset(i) - begin),
          static_cast<size_t>(values.value_length(i))};
    }
  }

  struct Span {
    size_t begin = 0;
    size_t size = 0;
  };
  const Span& span(size_t i) const { return spans_[i]; }
  void Copy(const Span& span, uint8_t* to) const {
    const uint8_t* from = bytes_.data() + span.begin;
    std::memcpy(to, from, kStep);
    if (span.size > kStep) std::memcpy(to + kStep, from + kStep, span.size - kStep);
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<Span> spans_;
};

arrow::Result<std::shared_ptr<arrow::Array>> DecodeText(
    const arrow::DictionaryArray& column, arrow::MemoryPool* pool) {
  const Texts texts(static_cast<const arrow::LargeBinaryArray&>(*column.dictionary()));
  const int64_t num_rows = column.length();
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> offsets,
      arrow::AllocateBuffer((num_rows + 1) * int64_t{sizeof(int64_t)}, pool));
  auto* const ends = offsets->mutable_data_as<int64_t>() + 1;
  size_t size = 0;
  ends[-1] = 0;
  ForEachPlace(column, [&](int64_t row, size_t place) {
    size += texts.span(place).size;
    ends[row] = static_cast<int64_t>(size);
  });
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::ResizableBuffer> bytes,
      arrow::AllocateResizableBuffer(static_cast<int64_t>(size + kStep), pool));
  uint8_t* to = bytes->mutable_data();
  ForEachPlace(column, [&](int64_t, size_t place) {
    const auto& span = texts.span(place);
    texts.Copy(span, to);
    to += span.size;
  });
  ARROW_RETURN_NOT_OK(bytes->Resize(static_cast<int64_t>(size), /*shrink_to_fit=*/false));
  std::shared_ptr<arrow::Buffer> validity;
  if (column.null_count() > 0) {
    ARROW_ASSIGN_OR_RAISE(validity,
                          arrow::internal::CopyBitmap(pool, column.null_bitmap_data(),
                                                      column.offset(), num_rows));
  }
  return arrow::MakeArray(arrow::ArrayData::Make(
      column.dictionary()->type(), num_rows,
      {std::move(validity), std::move(offsets), std::move(bytes)}, column.null_count()));
}

bool IsLargeText(const arrow::Array& values) {
  return (values.type_id() == arrow::Type::LARGE_STRING ||
          values.type_id() == arrow::Type::LARGE_BINARY) &&
         values.null_count() == 0;
}

}  // namespace

bool IsEncoded(const arrow::Field& field) {
  if (field.type()->id() != arrow::Type::DICTIONARY) return false;
  const auto family = FamilyOf(field);
  return family != DtypeFamily::kCategory && family != DtypeFamily::kArrow;
}

std::shared_ptr<arrow::Schema> DecodedSchema(
    const std::shared_ptr<arrow::Schema>& schema) {
  if (schema == nullptr) return nullptr;
  const auto is_encoded = [](const auto& field) { return IsEncoded(*field); };
  auto fields = schema->fields();
  if (std::none_of(fields.begin(), fields.end(), is_encoded)) return schema;
  for (auto& field : fields) {
    if (IsEncoded(*field)) field = field->WithType(ValueType(field->type()));
  }
  return arrow::schema(std::move(fields), schema->metadata());
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> DecodeColumns(
    std::shared_ptr<arrow::RecordBatch> batch, arrow::MemoryPool* pool) {
  const auto schema = DecodedSchema(batch->schema());
  if (schema == batch->schema()) return batch;
  auto columns = batch->columns();
  for (int i = 0; i < batch->num_columns(); ++i) {
    if (!IsEncoded(*batch->schema()->field(i))) continue;
    auto& column = columns[static_cast<size_t>(i)];
    ARROW_ASSIGN_OR_RAISE(
        column, DecodeValues(static_cast<const arrow::DictionaryArray&>(*column), pool));
  }
  return arrow::RecordBatch::Make(schema, batch->num_rows(), std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::Array>> DecodeValues(
    const arrow::DictionaryArray& column, arrow::MemoryPool* pool) {
  const auto& values = column.dictionary();
  if (IsLargeText(*values)) return DecodeText(column, pool);
  arrow::compute::ExecContext exec(pool);
  exec.set_use_threads(false);
  ARROW_ASSIGN_OR_RAISE(
      auto taken,
      arrow::compute::Take(values, column.indices(),
                           arrow::compute::TakeOptions::NoBoundsCheck(), &exec));
  return taken.make_array();
}

}  // namespace xshards
