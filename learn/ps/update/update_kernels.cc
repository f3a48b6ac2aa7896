// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/update/update_kernels.h"

#include "learn/ps/update/update_kernels_targets_internal.h"

namespace xshards::learn {

#ifdef __x86_64__

bool IsSupported(CpuTarget target) {
  switch (target) {
    case CpuTarget::kAvx2:
      return __builtin_cpu_supports("avx2") != 0;
    case CpuTarget::kAvx512:
      return __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0;
    default:
      return true;
  }
}

template <typename T>
const UpdateKernels<T>& KernelsFor(CpuTarget target) {
  switch (target) {
    case CpuTarget::kAvx512:
      return Avx512Kernels(T{});
    case CpuTarget::kAvx2:
      return Avx2Kernels(T{});
    default:
      return BaselineKernels(T{});
  }
}

#else

bool IsSupported(CpuTarget target) { return target == CpuTarget::kBaseline; }

template <typename T>
const UpdateKernels<T>& KernelsFor(CpuTarget) {
  return BaselineKernels(T{});
}

#endif

CpuTarget BestTarget() {
  if (IsSupported(CpuTarget::kAvx512)) return CpuTarget::kAvx512;
  if (IsSupported(CpuTarget::kAvx2)) return CpuTarget::kAvx2;
  return CpuTarget::kBaseline;
}

template const UpdateKernels<float>& KernelsFor<float>(CpuTarget);
template const UpdateKernels<double>& KernelsFor<double>(CpuTarget);

}  // namespace xshards::learn
