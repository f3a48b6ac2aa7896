// SPDX-License-Identifier: Apache-2.0
// Keras' forms of the loops in update_kernels_internal.h, compiled with them: epsilon is
// inside roots, and momenta include the learning rate of the step that made them.
#pragma once

#include "learn/ps/update/update_math_internal.h"

namespace xshards::learn {
namespace {

template <bool HasMomentum, bool Nesterov, typename T>
void KerasSgdLoop(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto momentum = static_cast<T>(c.momentum);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict moved = block.states[0];
  for (int64_t i = 0; i < block.count; ++i) {
    const T down = g[i] * rate;
    if constexpr (HasMomentum) {
      const T m = moved[i] * momentum - down;
      moved[i] = m;
      w[i] += Nesterov ? m * momentum - down : m;
    } else {
      w[i] -= down;
    }
  }
}

template <typename T>
void UpdateKerasSgd(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  if (c.momentum == 0) return KerasSgdLoop<false, false>(c, block);
  c.nesterov ? KerasSgdLoop<true, true>(c, block) : KerasSgdLoop<true, false>(c, block);
}

template <typename T>
void UpdateKerasAdagrad(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto epsilon = static_cast<T>(c.epsilon);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict sum = block.states[0];
  for (int64_t i = 0; i < block.count; ++i) {
    const T s = sum[i] + g[i] * g[i];
    sum[i] = s;
    w[i] -= rate * g[i] / Root(s + epsilon);
  }
}

template <typename T>
void UpdateKerasAdamax(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto fresh1 = static_cast<T>(1 - c.beta1);
  const auto beta2 = static_cast<T>(c.beta2);
  const auto epsilon = static_cast<T>(c.epsilon);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict mean = block.states[0];
  T* __restrict norm = block.states[1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T m = mean[i] + fresh1 * (g[i] - mean[i]);
    const T u = Larger(norm[i] * beta2, Magnitude(g[i]));
    mean[i] = m;
    norm[i] = u;
    w[i] -= rate * m / (u + epsilon);
  }
}

template <bool Centered, bool HasMomentum, typename T>
void KerasRmsPropLoop(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto rho = static_cast<T>(c.beta1);
  const auto fresh = static_cast<T>(1 - c.beta1);
  const auto epsilon = static_cast<T>(c.epsilon);
  const auto momentum = static_cast<T>(c.momentum);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict square = block.states[0];
  T* __restrict mean = block.states[1];
  T* __restrict moved = block.states[Centered ? 2 : 1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T v = rho * square[i] + fresh * (g[i] * g[i]);
    square[i] = v;
    T variance = v;
    if constexpr (Centered) {
      const T m = rho * mean[i] + fresh * g[i];
      mean[i] = m;
      variance = v - m * m;
    }
    T down = rate * g[i] / Root(variance + epsilon);
    if constexpr (HasMomentum) {
      down += momentum * moved[i];
      moved[i] = down;
    }
    w[i] -= down;
  }
}

template <typename T>
void UpdateKerasRmsProp(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const bool momentum = c.momentum > 0;
  if (c.centered) {
    return momentum ? KerasRmsPropLoop<true, true>(c, block)
                    : KerasRmsPropLoop<true, false>(c, block);
  }
  return momentum ? KerasRmsPropLoop<false, true>(c, block)
                  : KerasRmsPropLoop<false, false>(c, block);
}

template <typename T>
void UpdateKerasNadam(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto of_mean = static_cast<T>(c.mean_weight);
  const auto of_gradient = static_cast<T>(c.gradient_weight);
  const auto fresh1 = static_cast<T>(1 - c.beta1);
  const auto fresh2 = static_cast<T>(1 - c.beta2);
  const auto epsilon = static_cast<T>(c.epsilon);
  const auto correction = static_cast<T>(c.inverse_root_bias2);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict mean = block.states[0];
  T* __restrict square = block.states[1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T m = mean[i] + fresh1 * (g[i] - mean[i]);
    const T v = square[i] + fresh2 * (g[i] * g[i] - square[i]);
    mean[i] = m;
    square[i] = v;
    const T ahead = of_mean * m + of_gradient * g[i];
    w[i] -= rate * ahead / (Root(v) * correction + epsilon);
  }
}

template <bool SquareRoot, typename T>
void KerasFtrlLoop(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto inverse_rate = static_cast<T>(1 / c.learning_rate);
  const auto power = static_cast<T>(c.power);
  const auto l1 = static_cast<T>(c.l1);
  const auto twice_l2 = static_cast<T>(2 * c.l2);
  const auto shrinkage = static_cast<T>(2 * c.l2_shrinkage);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict accumulated = block.states[0];
  T* __restrict linear = block.states[1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T before = accumulated[i];
    const T after = before + g[i] * g[i];
    const T old_root = SquareRoot ? Root(before) : Power(before, power);
    const T new_root = SquareRoot ? Root(after) : Power(after, power);
    const T pushed = g[i] + shrinkage * w[i];
    const T z = linear[i] + pushed - (new_root - old_root) * inverse_rate * w[i];
    const T quadratic = new_root * inverse_rate + twice_l2;
    accumulated[i] = after;
    linear[i] = z;
    const T above = z > l1 ? l1 : z;
    const T kept = above < -l1 ? -l1 : above;
    w[i] = (kept - z) / quadratic;
  }
}

template <typename T>
void UpdateKerasFtrl(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  c.power == 0.5 ? KerasFtrlLoop<true>(c, block) : KerasFtrlLoop<false>(c, block);
}

template <typename T>
void UpdateKerasLion(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto beta1 = static_cast<T>(c.beta1);
  const auto fresh1 = static_cast<T>(1 - c.beta1);
  const auto beta2 = static_cast<T>(c.beta2);
  const auto fresh2 = static_cast<T>(1 - c.beta2);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict mean = block.states[0];
  for (int64_t i = 0; i < block.count; ++i) {
    const T direction = mean[i] * beta1 + g[i] * fresh1;
    mean[i] = mean[i] * beta2 + g[i] * fresh2;
    const T up = direction > 0 ? T{1} : T{0};
    const T down = direction < 0 ? T{1} : T{0};
    // A NaN is neither above nor below zero: it must not look like a zero.
    const T sign = direction != direction ? direction : up - down;
    w[i] -= rate * sign;
  }
}

}  // namespace
}  // namespace xshards::learn
