// SPDX-License-Identifier: Apache-2.0
// The loops of update_kernels.h. Compiled once for each processor family, so everything
// here has internal linkage and nothing of the standard library is used.
#pragma once

#include "learn/ps/update/keras_kernels_internal.h"
#include "learn/ps/update/update_math_internal.h"

namespace xshards::learn {
namespace {

template <typename T>
void ScaleInto(int64_t count, T scale, const T* __restrict in, T* __restrict out) {
  for (int64_t i = 0; i < count; ++i) out[i] = scale * in[i];
}

template <typename T>
void CombineInto(int64_t count, T a, const T* __restrict x, T b, const T* __restrict y,
                 T* __restrict out) {
  for (int64_t i = 0; i < count; ++i) out[i] = a * x[i] + b * y[i];
}

template <typename T>
void AddScaled(int64_t count, T scale, const T* __restrict in, T* __restrict out) {
  for (int64_t i = 0; i < count; ++i) out[i] += scale * in[i];
}

template <typename T>
void Scale(int64_t count, T factor, T* __restrict values) {
  for (int64_t i = 0; i < count; ++i) values[i] *= factor;
}

template <typename T>
void Clamp(int64_t count, T low, T high, T* __restrict values) {
  for (int64_t i = 0; i < count; ++i) {
    T value = values[i];
    value = value < low ? low : value;
    values[i] = value > high ? high : value;
  }
}

template <typename T>
double SumOfSquares(int64_t count, const T* __restrict values) {
  // A fixed number of lanes: the order of additions must not depend on the vector width.
  constexpr int64_t kLanes = 16;
  double lanes[kLanes] = {};
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (int64_t i = whole; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    lanes[i - whole] += value * value;
  }
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

template <typename T>
void PlainSgd(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  for (int64_t i = 0; i < block.count; ++i) w[i] -= rate * g[i];
}

template <bool First, bool Nesterov, typename T>
void MomentumSgd(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto momentum = static_cast<T>(c.momentum);
  const auto fresh = static_cast<T>(1 - c.dampening);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict buffer = block.states[0];
  for (int64_t i = 0; i < block.count; ++i) {
    const T moved = First ? g[i] : buffer[i] * momentum + fresh * g[i];
    buffer[i] = moved;
    w[i] -= rate * (Nesterov ? g[i] + momentum * moved : moved);
  }
}

template <typename T>
void UpdateSgd(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  if (c.momentum == 0) return PlainSgd(c, block);
  if (c.nesterov) {
    return c.first_step ? MomentumSgd<true, true>(c, block)
                        : MomentumSgd<false, true>(c, block);
  }
  return c.first_step ? MomentumSgd<true, false>(c, block)
                      : MomentumSgd<false, false>(c, block);
}

template <bool Amsgrad, typename T>
void AdamLoop(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto scale = static_cast<T>(c.weight_scale);
  const auto fresh1 = static_cast<T>(1 - c.beta1);
  const auto beta2 = static_cast<T>(c.beta2);
  const auto fresh2 = static_cast<T>(1 - c.beta2);
  const auto epsilon = static_cast<T>(c.epsilon);
  const auto correction = static_cast<T>(c.inverse_root_bias2);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict mean = block.states[0];
  T* __restrict square = block.states[1];
  T* __restrict largest = block.states[2];
  for (int64_t i = 0; i < block.count; ++i) {
    const T m = mean[i] + fresh1 * (g[i] - mean[i]);
    const T v = square[i] * beta2 + fresh2 * g[i] * g[i];
    mean[i] = m;
    square[i] = v;
    T used = v;
    if constexpr (Amsgrad) {
      used = Larger(largest[i], v);
      largest[i] = used;
    }
    w[i] = w[i] * scale - rate * (m / (Root(used) * correction + epsilon));
  }
}

template <typename T>
void UpdateAdam(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  c.amsgrad ? AdamLoop<true>(c, block) : AdamLoop<false>(c, block);
}

template <typename T>
void UpdateAdagrad(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto epsilon = static_cast<T>(c.epsilon);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict sum = block.states[0];
  for (int64_t i = 0; i < block.count; ++i) {
    const T s = sum[i] + g[i] * g[i];
    sum[i] = s;
    w[i] -= rate * (g[i] / (Root(s) + epsilon));
  }
}

template <typename T>
void UpdateAdadelta(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto rho = static_cast<T>(c.beta1);
  const auto fresh = static_cast<T>(1 - c.beta1);
  const auto epsilon = static_cast<T>(c.epsilon);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict square = block.states[0];
  T* __restrict accumulated = block.states[1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T v = square[i] * rho + fresh * g[i] * g[i];
    const T delta = Root(accumulated[i] + epsilon) / Root(v + epsilon) * g[i];
    square[i] = v;
    accumulated[i] = accumulated[i] * rho + fresh * delta * delta;
    w[i] -= rate * delta;
  }
}

template <typename T>
void UpdateAdamax(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
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
    const T u = Larger(norm[i] * beta2, Magnitude(g[i]) + epsilon);
    mean[i] = m;
    norm[i] = u;
    w[i] -= rate * (m / u);
  }
}

template <bool Centered, bool HasMomentum, typename T>
void RmsPropLoop(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto rate = static_cast<T>(c.learning_rate);
  const auto alpha = static_cast<T>(c.beta1);
  const auto fresh = static_cast<T>(1 - c.beta1);
  const auto epsilon = static_cast<T>(c.epsilon);
  const auto momentum = static_cast<T>(c.momentum);
  const T* __restrict g = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict square = block.states[0];
  T* __restrict mean = block.states[1];
  T* __restrict buffer = block.states[Centered ? 2 : 1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T v = square[i] * alpha + fresh * g[i] * g[i];
    square[i] = v;
    T variance = v;
    if constexpr (Centered) {
      const T m = mean[i] + fresh * (g[i] - mean[i]);
      mean[i] = m;
      variance = v - m * m;
    }
    T direction = g[i] / (Root(variance) + epsilon);
    if constexpr (HasMomentum) {
      direction += buffer[i] * momentum;
      buffer[i] = direction;
    }
    w[i] -= rate * direction;
  }
}

template <typename T>
void UpdateRmsProp(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const bool momentum = c.momentum > 0;
  if (c.centered) {
    return momentum ? RmsPropLoop<true, true>(c, block)
                    : RmsPropLoop<true, false>(c, block);
  }
  return momentum ? RmsPropLoop<false, true>(c, block)
                  : RmsPropLoop<false, false>(c, block);
}

template <bool SquareRoot, typename T>
void FtrlLoop(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  const auto inverse_rate = static_cast<T>(1 / c.learning_rate);
  const auto power = static_cast<T>(c.power);
  const auto l1 = static_cast<T>(c.l1);
  const auto twice_l2 = static_cast<T>(2 * c.l2);
  const auto shrinkage = static_cast<T>(2 * c.l2_shrinkage);
  const T* __restrict gradient = block.gradient;
  T* __restrict w = block.weights;
  T* __restrict accumulated = block.states[0];
  T* __restrict linear = block.states[1];
  for (int64_t i = 0; i < block.count; ++i) {
    const T g = gradient[i] + shrinkage * w[i];
    const T before = accumulated[i];
    const T after = before + g * g;
    const T old_root = SquareRoot ? Root(before) : Power(before, power);
    const T new_root = SquareRoot ? Root(after) : Power(after, power);
    const T z = linear[i] + g - (new_root - old_root) * inverse_rate * w[i];
    const T quadratic = new_root * inverse_rate + twice_l2;
    const T pull = z > 0 ? l1 : -l1;
    accumulated[i] = after;
    linear[i] = z;
    w[i] = Magnitude(z) > l1 ? (pull - z) / quadratic : T{0};
  }
}

template <typename T>
void UpdateFtrl(const UpdateCoefficients& c, const UpdateBlock<T>& block) {
  c.power == 0.5 ? FtrlLoop<true>(c, block) : FtrlLoop<false>(c, block);
}

template <typename T>
constexpr UpdateKernels<T> kKernels = {
    .scale_into = ScaleInto<T>,
    .combine_into = CombineInto<T>,
    .add_scaled = AddScaled<T>,
    .scale = Scale<T>,
    .clamp = Clamp<T>,
    .sum_of_squares = SumOfSquares<T>,
    // In the order of RuleKind.
    .update = {UpdateSgd<T>, UpdateAdam<T>, UpdateAdagrad<T>, UpdateAdadelta<T>,
               UpdateAdamax<T>, UpdateRmsProp<T>, UpdateFtrl<T>, UpdateKerasSgd<T>,
               UpdateKerasAdagrad<T>, UpdateKerasAdamax<T>, UpdateKerasRmsProp<T>,
               UpdateKerasNadam<T>, UpdateKerasFtrl<T>, UpdateKerasLion<T>},
};

}  // namespace
}  // namespace xshards::learn
