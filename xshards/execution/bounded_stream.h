// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "xshards/export.h"
#include "xshards/storage/batch_stream.h"

namespace xshards {

/// Cuts batches to about `batch_bytes`: slices, nothing is copied. What a function
/// returned is kept whole, so that the next function gets it whole; operators want it in
/// pieces.
XSHARDS_EXPORT std::unique_ptr<BatchStream> BoundBatches(
    std::unique_ptr<BatchStream> input, int64_t batch_bytes);

}  // namespace xshards
