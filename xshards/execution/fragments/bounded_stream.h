// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "xshards/export.h"
#include "xshards/storage/batch_stream.h"

namespace xshards {

/// Slices batches to about `batch_bytes`; nothing is copied. A function's output is
/// stored as one batch, so that the next function gets it as one; operators need smaller
/// batches.
XSHARDS_EXPORT std::unique_ptr<BatchStream> BoundBatches(
    std::unique_ptr<BatchStream> input, int64_t batch_bytes);

}  // namespace xshards
