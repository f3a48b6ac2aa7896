// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>

#include "xshards/export.h"

namespace xshards {

/// Passes to another pool, but keeps large blocks that are freed for the next who wants
/// as much: their pages are there already, and those of a fresh block are not, which
/// costs several times as much as filling them. Thread-safe.
class XSHARDS_EXPORT RecyclingPool final : public arrow::MemoryPool {
 public:
  /// Smaller blocks are passed on: allocators keep those well.
  static constexpr int64_t kMinBytes = 1 << 20;

  /// Keeps at most `max_idle_bytes`.
  RecyclingPool(arrow::MemoryPool* pool, int64_t max_idle_bytes);
  ~RecyclingPool() override;

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** pointer) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;

  /// Give back what is idle.
  void ReleaseUnused() override;
  int64_t idle_bytes() const { return idle_bytes_.load(std::memory_order_relaxed); }

  int64_t bytes_allocated() const override { return pool_->bytes_allocated(); }
  int64_t max_memory() const override { return pool_->max_memory(); }
  int64_t total_bytes_allocated() const override {
    return pool_->total_bytes_allocated();
  }
  int64_t num_allocations() const override { return pool_->num_allocations(); }
  std::string backend_name() const override { return pool_->backend_name(); }

 private:
  /// An idle block of that capacity, or nullptr.
  uint8_t* TakeIdle(int64_t capacity);
  void FreeIdle();

  arrow::MemoryPool* const pool_;
  const int64_t max_idle_bytes_;
  std::mutex mutex_;                               // guards idle_
  std::map<int64_t, std::vector<uint8_t*>> idle_;  // by capacity
  std::atomic<int64_t> idle_bytes_{0};
};

}  // namespace xshards
