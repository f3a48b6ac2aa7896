// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include <arrow/status.h>

namespace xshards::io {

/// Call `work` for 0 to `count - 1`, on at most `num_threads` threads of which the
/// caller's is one; for planning, which has no fragments that a Runner could run. Returns
/// the first error in the order of the numbers.
arrow::Status ParallelFor(size_t count, int num_threads,
                          const std::function<arrow::Status(size_t)>& work);

}  // namespace xshards::io
