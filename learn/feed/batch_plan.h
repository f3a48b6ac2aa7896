// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace xshards::learn {

/// Which rows of an epoch each replica takes in each step.
///
/// A step takes `batch_size` rows over all replicas together, the last step the remaining
/// rows. Shares differ by at most one row, so any batch size works with any number of
/// replicas; a share may be empty.
struct BatchPlan {
  int64_t num_rows = 0;
  int64_t batch_size = 1;
  int num_replicas = 1;

  struct Share {
    int64_t begin = 0;
    int64_t end = 0;
  };

  int64_t num_steps() const { return (num_rows + batch_size - 1) / batch_size; }

  /// The rows of a step over all replicas.
  int64_t StepRows(int64_t step) const {
    return std::min(batch_size, num_rows - step * batch_size);
  }

  Share ShareOf(int replica, int64_t step) const {
    const int64_t rows = StepRows(step);
    const int64_t first = step * batch_size;
    return {first + rows * replica / num_replicas,
            first + rows * (replica + 1) / num_replicas};
  }
};

}  // namespace xshards::learn
