// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/sync_policy.h"

#include <algorithm>
#include <numeric>

namespace xshards::learn {

std::vector<int32_t> SynchronousPolicy::NextUpdate(
    std::span<const ReplicaProgress> replicas) const {
  const bool all_ready = std::ranges::all_of(
      replicas, [](const ReplicaProgress& at) { return at.pushed > at.granted; });
  if (!all_ready) return {};
  std::vector<int32_t> all(replicas.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace xshards::learn
