// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/update/update_kernels_internal.h"
#include "learn/ps/update/update_kernels_targets_internal.h"

namespace xshards::learn {

const UpdateKernels<float>& BaselineKernels(float) { return kKernels<float>; }
const UpdateKernels<double>& BaselineKernels(double) { return kKernels<double>; }

}  // namespace xshards::learn
