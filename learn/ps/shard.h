// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/ps/gradient_clip.h"
#include "learn/ps/key_range.h"
#include "learn/ps/region/parameter_layout.h"
#include "learn/ps/region/parameter_region.h"
#include "learn/ps/update/update_rule.h"

namespace xshards::learn {

/// One replica's contribution to an update.
struct Contribution {
  const std::byte* gradient = nullptr;
  std::span<const uint8_t> presence;
  double weight = 1;  // its share of the rows
};

/// One update of all parameters, read by every owner while it runs.
struct Update {
  std::vector<Contribution> contributions;  // in the order of the replicas
  std::vector<bool> active;                 // by parameter: some replica has a gradient
  double gradient_scale = 1;                // of clipping by norm
};

/// Constant over all updates; outlives the shards.
struct ShardEnvironment {
  const ParameterLayout* layout = nullptr;
  const ParameterRegion* region = nullptr;
  const std::vector<UpdateRule>* rules = nullptr;  // by group
  GradientClip clip;
};

/// The parameters of one owner. An owner reads all gradients and writes weights and
/// states of its own keys only, one cache block at a time: sum over replicas, clip,
/// update. Different shards may run concurrently.
class Shard {
 public:
  Shard(const ShardEnvironment* environment, std::span<const Block> blocks,
        int64_t first_block);

  /// Write each block's sum of squares of the averaged and clamped gradient to
  /// `sums[block]`, where the first block of the first shard is 0.
  void SumSquares(const Update& update, std::span<double> sums) const;
  void Apply(const Update& update) const;

 private:
  template <typename T>
  void Average(const Update& update, const Block& block, T* out) const;
  template <typename T>
  double SumSquaresOf(const Update& update, const Block& block) const;
  template <typename T>
  void ApplyTo(const Update& update, const Block& block, const UpdateStep& step) const;

  const ParameterLayout& layout() const { return *environment_->layout; }
  const Parameter& ParameterOf(const Block& block) const;

  const ShardEnvironment* environment_;
  std::span<const Block> blocks_;
  int64_t first_block_;
  CpuTarget target_ = BestTarget();
};

}  // namespace xshards::learn
