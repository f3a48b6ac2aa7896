// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "xshards/export.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// Where a Cache node keeps its partitions. Thread-safe.
class XSHARDS_EXPORT CacheCell {
 public:
  /// Held while the one thread that found the cell empty fills it.
  std::mutex& filling() { return filling_; }

  std::optional<std::vector<Partition>> Get() const;
  void Set(std::vector<Partition> partitions);
  void Clear();

 private:
  std::mutex filling_;
  mutable std::mutex mutex_;  // guards partitions_
  std::optional<std::vector<Partition>> partitions_;
};

}  // namespace xshards
