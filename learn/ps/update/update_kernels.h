// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by files compiled for newer processors than the rest. It must declare no
// inline function: the linker could keep the newer processor's copy of it for all
// callers.
#include <cstdint>

namespace xshards::learn {

/// What a rule's kernel needs for one step of one parameter; computed once in double
/// precision. Each kernel reads the members its rule sets.
struct UpdateCoefficients {
  double learning_rate = 0;  // after the rule's own decay and bias correction
  double weight_scale = 1;   // of decoupled weight decay
  double momentum = 0;
  double dampening = 0;
  double mean_weight = 0;  // Nadam: of the mean and of the gradient in a step
  double gradient_weight = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double inverse_root_bias2 = 1;  // 1 / sqrt(1 - beta2^step)
  double power = 0;               // Ftrl: minus the learning rate power
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;
  bool first_step = false;
  bool nesterov = false;
  bool amsgrad = false;
  bool centered = false;
};

/// The memory a rule's kernel works on; the arrays do not overlap.
template <typename T>
struct UpdateBlock {
  int64_t count = 0;
  const T* gradient = nullptr;
  T* weights = nullptr;
  T* states[3] = {nullptr, nullptr, nullptr};
};

enum class RuleKind : int32_t {
  kSgd,
  kAdam,
  kAdagrad,
  kAdadelta,
  kAdamax,
  kRmsProp,
  kFtrl,
  kKerasSgd,
  kKerasAdagrad,
  kKerasAdamax,
  kKerasRmsProp,
  kKerasNadam,
  kKerasFtrl,
  kKerasLion,
};
inline constexpr int kNumRuleKinds = 14;

/// The loops over a block, compiled for one processor family. Each element is computed
/// independently, with IEEE operations in a fixed order and without fused multiply-add,
/// so all families give the same bits, wherever a block begins or ends.
template <typename T>
struct UpdateKernels {
  /// out = scale * in
  void (*scale_into)(int64_t count, T scale, const T* in, T* out);
  /// out = a * x + b * y
  void (*combine_into)(int64_t count, T a, const T* x, T b, const T* y, T* out);
  /// out += scale * in
  void (*add_scaled)(int64_t count, T scale, const T* in, T* out);
  /// values *= factor
  void (*scale)(int64_t count, T factor, T* values);
  /// Clamp to [low, high]; NaN stays.
  void (*clamp)(int64_t count, T low, T high, T* values);
  double (*sum_of_squares)(int64_t count, const T* values);
  /// By RuleKind.
  void (*update[kNumRuleKinds])(const UpdateCoefficients&, const UpdateBlock<T>&);
};

enum class CpuTarget : int32_t { kBaseline, kAvx2, kAvx512 };

/// Whether this machine can run the kernels of a target.
bool IsSupported(CpuTarget target);
/// The newest target that this machine supports.
CpuTarget BestTarget();
/// The kernels of a supported target, for float and double.
template <typename T>
const UpdateKernels<T>& KernelsFor(CpuTarget target);

}  // namespace xshards::learn
