// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/shard.h"

namespace xshards::learn {

namespace {

/// Holds the averaged gradient of a block between the loops over it.
template <typename T>
struct alignas(64) BlockBuffer {
  T values[kBlockBytes / sizeof(T)];
};

template <typename T>
const T* GradientAt(const Contribution& contribution, const Block& block) {
  return reinterpret_cast<const T*>(contribution.gradient + block.offset);
}

template <typename T>
T* ValuesAt(std::byte* vector, const Block& block) {
  return reinterpret_cast<T*>(vector + block.offset);
}

}  // namespace

Shard::Shard(const ShardEnvironment* environment, std::span<const Block> blocks,
             int64_t first_block)
    : environment_(environment), blocks_(blocks), first_block_(first_block) {}

const Parameter& Shard::ParameterOf(const Block& block) const {
  return layout().parameters()[static_cast<size_t>(block.parameter)];
}

template <typename T>
void Shard::Average(const Update& update, const Block& block, T* out) const {
  const auto& kernels = KernelsFor<T>(target_);
  // The first two are summed together, which saves a pass and gives the same bits.
  const Contribution* first = nullptr;
  int taken = 0;
  for (const Contribution& next : update.contributions) {
    if (next.presence[static_cast<size_t>(block.parameter)] == 0) continue;
    const auto weight = static_cast<T>(next.weight);
    const T* gradient = GradientAt<T>(next, block);
    if (taken == 0) {
      first = &next;
    } else if (taken == 1) {
      kernels.combine_into(block.count, static_cast<T>(first->weight),
                           GradientAt<T>(*first, block), weight, gradient, out);
    } else {
      kernels.add_scaled(block.count, weight, gradient, out);
    }
    ++taken;
  }
  if (taken == 1) {
    kernels.scale_into(block.count, static_cast<T>(first->weight),
                       GradientAt<T>(*first, block), out);
  }
  if (const auto& interval = environment_->clip.constant) {
    kernels.clamp(block.count, static_cast<T>(interval->low),
                  static_cast<T>(interval->high), out);
  }
}

template <typename T>
double Shard::SumSquaresOf(const Update& update, const Block& block) const {
  BlockBuffer<T> gradient;
  Average(update, block, gradient.values);
  return KernelsFor<T>(target_).sum_of_squares(block.count, gradient.values);
}

void Shard::SumSquares(const Update& update, std::span<double> sums) const {
  auto sum = sums.begin() + first_block_;
  for (const Block& block : blocks_) {
    double& value = *sum++;
    value = 0;
    if (!update.active[static_cast<size_t>(block.parameter)]) continue;
    value = ParameterOf(block).type == ParameterType::kFloat32
                ? SumSquaresOf<float>(update, block)
                : SumSquaresOf<double>(update, block);
  }
}

template <typename T>
void Shard::ApplyTo(const Update& update, const Block& block,
                    const UpdateStep& step) const {
  const auto& kernels = KernelsFor<T>(target_);
  const ParameterRegion& region = *environment_->region;
  BlockBuffer<T> gradient;
  Average(update, block, gradient.values);
  const double factor = step.maximize ? -update.gradient_scale : update.gradient_scale;
  T* weights = ValuesAt<T>(region.weights(), block);
  if (factor != 1) kernels.scale(block.count, static_cast<T>(factor), gradient.values);
  if (step.coupled_weight_decay != 0) {
    kernels.add_scaled(block.count, static_cast<T>(step.coupled_weight_decay), weights,
                       gradient.values);
  }
  if (step.weight_scale != 1) {
    kernels.scale(block.count, static_cast<T>(step.weight_scale), weights);
  }
  UpdateBlock<T> memory{
      .count = block.count, .gradient = gradient.values, .weights = weights};
  for (int32_t state = 0; state < region.sizes().num_states; ++state) {
    memory.states[state] = ValuesAt<T>(region.state(state), block);
  }
  kernels.update[static_cast<size_t>(step.kind)](step.coefficients, memory);
}

void Shard::Apply(const Update& update) const {
  int32_t current = -1;
  UpdateStep step;
  for (const Block& block : blocks_) {
    const auto index = static_cast<size_t>(block.parameter);
    if (!update.active[index]) continue;
    const Parameter& parameter = ParameterOf(block);
    if (block.parameter != current) {
      current = block.parameter;
      step = StepOf((*environment_->rules)[static_cast<size_t>(parameter.group)],
                    environment_->region->step_counts()[index]);
    }
    if (parameter.type == ParameterType::kFloat32) {
      ApplyTo<float>(update, block, step);
    } else {
      ApplyTo<double>(update, block, step);
    }
  }
}

}  // namespace xshards::learn
