// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/cache_cell.h"

#include <utility>

namespace xshards {

std::optional<std::vector<Partition>> CacheCell::Get() const {
  std::lock_guard lock(mutex_);
  return partitions_;
}

void CacheCell::Set(std::vector<Partition> partitions) {
  std::lock_guard lock(mutex_);
  partitions_ = std::move(partitions);
}

void CacheCell::Clear() {
  std::optional<std::vector<Partition>> dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(partitions_);
}

}  // namespace xshards
