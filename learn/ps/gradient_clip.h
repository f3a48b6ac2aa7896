// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::learn {

/// Clipping of the averaged gradient before the update rule. When both are set, the norm
/// is that of the clamped gradient.
struct XSHARDS_EXPORT GradientClip {
  struct Interval {
    double low = 0;
    double high = 0;
  };

  /// Clamp each element.
  std::optional<Interval> constant;
  /// Scale all gradients together so that their L2 norm is at most this, as
  /// torch.nn.utils.clip_grad_norm_ does.
  std::optional<double> max_norm;

  arrow::Status Validate() const;
  /// The factor for gradients of this norm.
  double ScaleFor(double norm) const;
};

}  // namespace xshards::learn
