// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "xshards/export.h"

namespace xshards {

/// The bytes that the rows reference: a slice does not count the rest of its buffers.
/// Buffers shared by several columns count for each.
XSHARDS_EXPORT int64_t RowBytes(const arrow::ArrayData& column);
XSHARDS_EXPORT int64_t RowBytes(const arrow::RecordBatch& batch);

}  // namespace xshards
