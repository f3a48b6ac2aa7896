// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "learn/feed/tensor_block.h"

namespace xshards::learn {

/// One replica's share of a step.
struct FeedBatch {
  int64_t step = 0;
  int64_t step_rows = 0;  // over all replicas
  TensorBlock rows;       // may be empty
};

}  // namespace xshards::learn
