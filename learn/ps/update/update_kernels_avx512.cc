// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#include "learn/ps/update/update_kernels_internal.h"
#include "learn/ps/update/update_kernels_targets_internal.h"

namespace xshards::learn {

const UpdateKernels<float>& Avx512Kernels(float) { return kKernels<float>; }
const UpdateKernels<double>& Avx512Kernels(double) { return kKernels<double>; }

}  // namespace xshards::learn

#endif  // __x86_64__
