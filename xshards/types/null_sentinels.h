// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/record_batch.h>

#include "xshards/export.h"

namespace xshards {

/// Write, below every null, what numpy and pandas have in its place: NaN among floats,
/// NaT among times. Python functions then get such columns as they lie, without a copy.
/// The batch must be its caller's alone; columns whose memory is not mutable stay as they
/// are.
XSHARDS_EXPORT void WriteNullValues(const arrow::RecordBatch& batch);

}  // namespace xshards
