// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/record_batch.h>

#include "xshards/export.h"

namespace xshards {

/// Write the missing value of numpy and pandas into the slot of every null: NaN for
/// floats, NaT for times. Python functions then get such columns without a copy. The
/// caller must own the batch exclusively; columns in immutable memory are unchanged.
XSHARDS_EXPORT void WriteNullValues(const arrow::RecordBatch& batch);

}  // namespace xshards
