// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "benchmarks/random_rows.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/storage/block_store.h"

namespace xshards::bench {

/// A budget and a segment pool that spills to the system's temporary directory. Data
/// stored in it must be dropped before it.
struct TemporaryStorage {
  explicit TemporaryStorage(int64_t memory_bytes = 8LL << 30)
      : budget(memory_bytes),
        segments(Get(SegmentPool::Make(std::filesystem::temp_directory_path().string(),
                                       &budget, memory_bytes / 4))) {}

  StorageEnvironment environment() { return {&budget, segments.get()}; }

  MemoryBudget budget;
  std::unique_ptr<SegmentPool> segments;
};

}  // namespace xshards::bench
