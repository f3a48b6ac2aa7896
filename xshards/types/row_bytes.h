// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "xshards/export.h"

namespace xshards {

/// The bytes of rows, without what a slice leaves out of the buffers behind it. What
/// several columns share counts for each.
XSHARDS_EXPORT int64_t RowBytes(const arrow::ArrayData& column);
XSHARDS_EXPORT int64_t RowBytes(const arrow::RecordBatch& batch);

}  // namespace xshards
