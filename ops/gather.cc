// SPDX-License-Identifier: Apache-2.0
#include "ops/gather.h"

#include <algorithm>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include "ops/memory_access.h"
#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

template <typename T, typename Row>
void CopyValues(const arrow::ArrayData& values, const arrow::ArrayData& rows,
                uint8_t* out) {
  const T* from = values.GetValues<T>(1);
  const Row* row = rows.GetValues<Row>(1);
  T* to = reinterpret_cast<T*>(out);
  const auto num_rows = static_cast<size_t>(rows.length);
  size_t i = 0;
  if (static_cast<size_t>(values.length) * sizeof(T) > kSecondCacheBytes) {
    for (; i + kRowsAhead < num_rows; ++i) {
      ReadAhead(from + row[i + kRowsAhead]);
      to[i] = from[row[i]];
    }
  }
  for (; i < num_rows; ++i) to[i] = from[row[i]];
}

template <typename Row>
void CopyValidity(const arrow::ArrayData& values, const arrow::ArrayData& rows,
                  uint8_t* out) {
  const uint8_t* from = values.buffers[0]->data();
  const Row* row = rows.GetValues<Row>(1);
  for (int64_t i = 0; i < rows.length; ++i) {
    const auto at = static_cast<uint64_t>(values.offset + static_cast<int64_t>(row[i]));
    arrow::bit_util::SetBitTo(out, i, arrow::bit_util::GetBit(from, at));
  }
}

template <typename Row>
arrow::Result<std::shared_ptr<arrow::Array>> GatherPlain(const arrow::ArrayData& values,
                                                         const arrow::ArrayData& rows,
                                                         int byte_width,
                                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes,
                        arrow::AllocateBuffer(rows.length * byte_width, pool));
  std::shared_ptr<arrow::Buffer> validity;
  if (values.GetNullCount() > 0) {
    ARROW_ASSIGN_OR_RAISE(validity, arrow::AllocateBitmap(rows.length, pool));
    CopyValidity<Row>(values, rows, validity->mutable_data());
  }
  uint8_t* const out = bytes->mutable_data();
  switch (byte_width) {
    case 1:
      CopyValues<uint8_t, Row>(values, rows, out);
      break;
    case 2:
      CopyValues<uint16_t, Row>(values, rows, out);
      break;
    case 4:
      CopyValues<uint32_t, Row>(values, rows, out);
      break;
    default:
      CopyValues<uint64_t, Row>(values, rows, out);
  }
  const int64_t null_count = validity == nullptr ? 0 : arrow::kUnknownNullCount;
  return arrow::MakeArray(arrow::ArrayData::Make(
      values.type, rows.length, {std::move(validity), std::move(bytes)}, null_count));
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
  if (width > 0 && rows->null_count() == 0) {
    if (rows->type_id() == arrow::Type::INT64) {
      return GatherPlain<int64_t>(*values->data(), *rows->data(), width, pool);
    }
    if (rows->type_id() == arrow::Type::UINT32) {
      return GatherPlain<uint32_t>(*values->data(), *rows->data(), width, pool);
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
