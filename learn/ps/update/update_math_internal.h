// SPDX-License-Identifier: Apache-2.0
// What the loops over blocks compute with. Compiled once for each processor family, so
// everything here has internal linkage and nothing of the standard library is used.
#pragma once

#include "learn/ps/update/update_kernels.h"

namespace xshards::learn {
namespace {

inline float Root(float value) { return __builtin_sqrtf(value); }
inline double Root(double value) { return __builtin_sqrt(value); }
inline float Power(float value, float power) { return __builtin_powf(value, power); }
inline double Power(double value, double power) { return __builtin_pow(value, power); }
inline float Magnitude(float value) { return __builtin_fabsf(value); }
inline double Magnitude(double value) { return __builtin_fabs(value); }

/// The larger of two; NaN if either is.
template <typename T>
T Larger(T a, T b) {
  return a > b || a != a ? a : b;
}

}  // namespace
}  // namespace xshards::learn
