// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/null_sentinels.h"

#include <limits>

#include <arrow/array.h>
#include <arrow/util/bit_util.h>

namespace xshards {

namespace {

template <typename Value>
void WriteBelowNulls(const arrow::ArrayData& column, Value value) {
  const uint8_t* valid = column.buffers[0]->data();
  auto* values = reinterpret_cast<Value*>(column.buffers[1]->mutable_data());
  for (int64_t i = column.offset; i < column.offset + column.length; ++i) {
    if (!arrow::bit_util::GetBit(valid, i)) values[i] = value;
  }
}

}  // namespace

void WriteNullValues(const arrow::RecordBatch& batch) {
  for (const auto& column : batch.column_data()) {
    if (column->GetNullCount() == 0 || column->buffers.size() != 2 ||
        column->buffers[0] == nullptr || !column->buffers[1]->is_mutable()) {
      continue;
    }
    switch (column->type->id()) {
      case arrow::Type::FLOAT:
        WriteBelowNulls(*column, std::numeric_limits<float>::quiet_NaN());
        break;
      case arrow::Type::DOUBLE:
        WriteBelowNulls(*column, std::numeric_limits<double>::quiet_NaN());
        break;
      case arrow::Type::TIMESTAMP:
      case arrow::Type::DURATION:
        WriteBelowNulls(*column, std::numeric_limits<int64_t>::min());
        break;
      default:
        break;
    }
  }
}

}  // namespace xshards
