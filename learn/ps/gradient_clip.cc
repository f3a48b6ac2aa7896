// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/gradient_clip.h"

#include <cmath>

namespace xshards::learn {

arrow::Status GradientClip::Validate() const {
  if (constant && !(constant->low <= constant->high)) {
    return arrow::Status::Invalid("Constant gradient clipping needs min <= max, got min ",
                                  constant->low, " and max ", constant->high);
  }
  if (max_norm && !(*max_norm >= 0)) {
    return arrow::Status::Invalid(
        "L2 norm gradient clipping needs a norm of at least 0, got ", *max_norm);
  }
  return arrow::Status::OK();
}

double GradientClip::ScaleFor(double norm) const {
  if (!max_norm) return 1;
  const double scale = *max_norm / (norm + 1e-6);
  // NaN is propagated: a NaN gradient must not look like a small one.
  return scale > 1 ? 1 : scale;
}

}  // namespace xshards::learn
