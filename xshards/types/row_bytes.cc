// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/row_bytes.h"

#include <arrow/array/util.h>
#include <arrow/type_traits.h>
#include <arrow/util/byte_size.h>

namespace xshards {

namespace {

/// The number of bytes that some bits of a buffer span.
int64_t BytesOfBits(int64_t begin, int64_t count) {
  return (begin + count + 7) / 8 - begin / 8;
}

/// True for columns of one values buffer and an optional validity bitmap.
bool IsFlat(const arrow::ArrayData& column) {
  const auto id = column.type->id();
  return arrow::is_primitive(id) && column.child_data.empty() &&
         column.dictionary == nullptr && column.buffers.size() == 2 &&
         column.buffers[1] != nullptr;
}

}  // namespace

int64_t RowBytes(const arrow::ArrayData& column) {
  // Arrow's own function builds arrays of ranges, which takes longer than moving a few
  // hundred rows.
  if (IsFlat(column)) {
    const auto& type = static_cast<const arrow::FixedWidthType&>(*column.type);
    const int64_t width = type.bit_width();
    const int64_t valid =
        column.buffers[0] == nullptr ? 0 : BytesOfBits(column.offset, column.length);
    return valid + BytesOfBits(column.offset * width, column.length * width);
  }
  const auto array = arrow::MakeArray(column.Copy());
  auto size = arrow::util::ReferencedBufferSize(*array);
  return size.ok() ? *size : arrow::util::TotalBufferSize(*array);
}

int64_t RowBytes(const arrow::RecordBatch& batch) {
  int64_t bytes = 0;
  for (const auto& column : batch.column_data()) bytes += RowBytes(*column);
  return bytes;
}

}  // namespace xshards
