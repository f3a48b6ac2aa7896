// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "learn/ps/update/update_kernels.h"

namespace xshards::learn {

// One pair for each file update_kernels_<target>.cc; the argument only names the type.
const UpdateKernels<float>& BaselineKernels(float);
const UpdateKernels<double>& BaselineKernels(double);
#ifdef __x86_64__
const UpdateKernels<float>& Avx2Kernels(float);
const UpdateKernels<double>& Avx2Kernels(double);
const UpdateKernels<float>& Avx512Kernels(float);
const UpdateKernels<double>& Avx512Kernels(double);
#endif

}  // namespace xshards::learn
