// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "xshards/export.h"

namespace xshards::learn {

/// The progress of one replica.
struct ReplicaProgress {
  uint64_t pushed = 0;   // gradients it has completed
  uint64_t granted = 0;  // gradients that updates have consumed
};

/// Decides whose gradients make up the next update.
class XSHARDS_EXPORT SyncPolicy {
 public:
  virtual ~SyncPolicy() = default;

  /// The replicas, in ascending order, whose gradients the next update consumes; empty to
  /// wait for more. A replica continues when its gradient has been consumed. Only
  /// replicas with pushed > granted may be returned.
  virtual std::vector<int32_t> NextUpdate(
      std::span<const ReplicaProgress> replicas) const = 0;
};

/// Every update takes one gradient of every replica.
class XSHARDS_EXPORT SynchronousPolicy final : public SyncPolicy {
 public:
  std::vector<int32_t> NextUpdate(
      std::span<const ReplicaProgress> replicas) const override;
};

}  // namespace xshards::learn
