// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/gather.h"

#include <algorithm>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "ops/kernels/prefetch.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

/// Where the values of some rows are. The value of a null row number is arbitrary: it
/// reads the first value, which avoids a branch.
template <typename Row, bool AnyMissing>
class RowReader {
 public:
  RowReader(const arrow::ArrayData& rows, int64_t num_values)
      : rows_(rows.GetValues<Row>(1)), num_values_(static_cast<uint64_t>(num_values)) {}

  uint64_t operator[](size_t i) const {
    const auto row = static_cast<uint64_t>(rows_[i]);
    return AnyMissing && row >= num_values_ ? 0 : row;
  }

 private:
  const Row* const rows_;
  const uint64_t num_values_;
};

template <typename T, typename Rows>
void CopyValues(const arrow::ArrayData& values, const Rows& row, size_t num_rows,
                uint8_t* out) {
  const T* from = values.GetValues<T>(1);
  T* to = reinterpret_cast<T*>(out);
  size_t i = 0;
  const size_t num_bytes = static_cast<size_t>(values.length) * sizeof(T);
  if (num_bytes > kLastCacheBytes) {
    // The loop is bound by memory: non-temporal stores spare reading the output lines
    // first.
    for (; i + kRowsAhead < num_rows; ++i) {
      ReadAhead(from + row[i + kRowsAhead]);
      WritePastCaches(to + i, from[row[i]]);
    }
    EndWritesPastCaches();
  } else if (num_bytes > kSecondCacheBytes) {
    for (; i + kRowsAhead < num_rows; ++i) {
      ReadAhead(from + row[i + kRowsAhead]);
      to[i] = from[row[i]];
    }
  }
  for (; i < num_rows; ++i) to[i] = from[row[i]];
}

/// The validity of the taken values; that of the row numbers if no value is null.
template <typename Rows>
arrow::Result<std::shared_ptr<arrow::Buffer>> GatherValidity(
    const arrow::ArrayData& values, const arrow::ArrayData& rows, const Rows& row,
    arrow::MemoryPool* pool) {
  const uint8_t* row_bits = rows.GetNullCount() > 0 ? rows.buffers[0]->data() : nullptr;
  if (values.GetNullCount() == 0) {
    if (row_bits == nullptr) return nullptr;
    return arrow::internal::CopyBitmap(pool, row_bits, rows.offset, rows.length);
  }
  ARROW_ASSIGN_OR_RAISE(auto validity, arrow::AllocateBitmap(rows.length, pool));
  const uint8_t* from = values.buffers[0]->data();
  const auto offset = static_cast<uint64_t>(values.offset);
  for (int64_t i = 0; i < rows.length; ++i) {
    const bool has_row =
        row_bits == nullptr ||
        arrow::bit_util::GetBit(row_bits, static_cast<uint64_t>(rows.offset + i));
    const bool has_value =
        arrow::bit_util::GetBit(from, offset + row[static_cast<size_t>(i)]);
    arrow::bit_util::SetBitTo(validity->mutable_data(), i, has_row && has_value);
  }
  return std::shared_ptr<arrow::Buffer>(std::move(validity));
}

template <typename Rows>
arrow::Result<std::shared_ptr<arrow::Array>> GatherPlain(const arrow::ArrayData& values,
                                                         const arrow::ArrayData& rows,
                                                         int byte_width,
                                                         arrow::MemoryPool* pool) {
  const Rows row(rows, values.length);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes,
                        arrow::AllocateBuffer(rows.length * byte_width, pool));
  ARROW_ASSIGN_OR_RAISE(auto validity, GatherValidity(values, rows, row, pool));
  uint8_t* const out = bytes->mutable_data();
  const auto num_rows = static_cast<size_t>(rows.length);
  switch (byte_width) {
    case 1:
      CopyValues<uint8_t>(values, row, num_rows, out);
      break;
    case 2:
      CopyValues<uint16_t>(values, row, num_rows, out);
      break;
    case 4:
      CopyValues<uint32_t>(values, row, num_rows, out);
      break;
    default:
      CopyValues<uint64_t>(values, row, num_rows, out);
  }
  const int64_t null_count = validity == nullptr ? 0 : arrow::kUnknownNullCount;
  return arrow::MakeArray(arrow::ArrayData::Make(
      values.type, rows.length, {std::move(validity), std::move(bytes)}, null_count));
}

template <typename Row>
arrow::Result<std::shared_ptr<arrow::Array>> GatherPlainRows(
    const arrow::ArrayData& values, const arrow::ArrayData& rows, int byte_width,
    arrow::MemoryPool* pool) {
  return rows.GetNullCount() > 0
             ? GatherPlain<RowReader<Row, true>>(values, rows, byte_width, pool)
             : GatherPlain<RowReader<Row, false>>(values, rows, byte_width, pool);
}

arrow::Result<arrow::Datum> Take(const arrow::Datum& values,
                                 const std::shared_ptr<arrow::Array>& rows,
                                 arrow::MemoryPool* pool) {
  arrow::compute::ExecContext exec(pool);
  exec.set_use_threads(false);
  return arrow::compute::Take(values, rows, arrow::compute::TakeOptions::NoBoundsCheck(),
                              &exec);
}

}  // namespace

int PlainWidth(const arrow::DataType& type) {
  if (!arrow::is_primitive(type.id()) || type.id() == arrow::Type::BOOL) return 0;
  const int bytes = type.byte_width();
  return bytes <= 8 ? bytes : 0;
}

arrow::Result<std::shared_ptr<arrow::Array>> RowsOrNull(std::vector<int64_t> rows,
                                                        arrow::MemoryPool* pool) {
  const auto is_null = [](int64_t row) { return row < 0; };
  if (std::none_of(rows.begin(), rows.end(), is_null)) return ToArray(std::move(rows));
  const int64_t* numbers = rows.data();
  return ToArray(std::move(rows), [=](size_t i) { return is_null(numbers[i]); }, pool);
}

arrow::Result<std::shared_ptr<arrow::Array>> Gather(
    const std::shared_ptr<arrow::Array>& values,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool) {
  const int width = PlainWidth(*values->type());
  if (width > 0 && values->length() > 0) {
    if (rows->type_id() == arrow::Type::INT64) {
      return GatherPlainRows<int64_t>(*values->data(), *rows->data(), width, pool);
    }
    if (rows->type_id() == arrow::Type::UINT32) {
      return GatherPlainRows<uint32_t>(*values->data(), *rows->data(), width, pool);
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto taken, Take(values, rows, pool));
  return taken.make_array();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Gather(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto taken, Take(batch, rows, pool));
  return taken.record_batch();
}

}  // namespace xshards::ops
