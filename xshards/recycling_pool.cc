// SPDX-License-Identifier: Apache-2.0
#include "xshards/recycling_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <arrow/buffer.h>

namespace xshards {

namespace {

bool IsRecycled(int64_t size, int64_t alignment) {
  return size >= RecyclingPool::kMinBytes && alignment == arrow::kDefaultBufferAlignment;
}

/// What is allocated for a large block: an eighth more than asked for at most, so that
/// blocks of about one size replace each other.
int64_t CapacityOf(int64_t size) {
  const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size))) / 8;
  return (size + step - 1) / step * step;
}

}  // namespace

RecyclingPool::RecyclingPool(arrow::MemoryPool* pool, int64_t max_idle_bytes)
    : pool_(pool), max_idle_bytes_(max_idle_bytes) {}

RecyclingPool::~RecyclingPool() { FreeIdle(); }

uint8_t* RecyclingPool::TakeIdle(int64_t capacity) {
  std::lock_guard lock(mutex_);
  const auto found = idle_.find(capacity);
  if (found == idle_.end() || found->second.empty()) return nullptr;
  uint8_t* block = found->second.back();
  found->second.pop_back();
  idle_bytes_ -= capacity;
  return block;
}

arrow::Status RecyclingPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  if (!IsRecycled(size, alignment)) return pool_->Allocate(size, alignment, out);
  const int64_t capacity = CapacityOf(size);
  *out = TakeIdle(capacity);
  if (*out != nullptr) return arrow::Status::OK();
  return pool_->Allocate(capacity, alignment, out);
}

void RecyclingPool::Free(uint8_t* buffer, int64_t size, int64_t alignment) {
  if (!IsRecycled(size, alignment)) return pool_->Free(buffer, size, alignment);
  const int64_t capacity = CapacityOf(size);
  {
    std::lock_guard lock(mutex_);
    if (idle_bytes_ + capacity <= max_idle_bytes_) {
      idle_[capacity].push_back(buffer);
      idle_bytes_ += capacity;
      return;
    }
  }
  pool_->Free(buffer, capacity, alignment);
}

arrow::Status RecyclingPool::Reallocate(int64_t old_size, int64_t new_size,
                                        int64_t alignment, uint8_t** pointer) {
  const bool was = IsRecycled(old_size, alignment);
  const bool will_be = IsRecycled(new_size, alignment);
  if (!was && !will_be) {
    return pool_->Reallocate(old_size, new_size, alignment, pointer);
  }
  if (was && will_be && CapacityOf(old_size) == CapacityOf(new_size)) {
    return arrow::Status::OK();
  }
  uint8_t* moved = nullptr;
  ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
  std::memcpy(moved, *pointer, static_cast<size_t>(std::min(old_size, new_size)));
  Free(std::exchange(*pointer, moved), old_size, alignment);
  return arrow::Status::OK();
}

void RecyclingPool::FreeIdle() {
  std::map<int64_t, std::vector<uint8_t*>> idle;
  {
    std::lock_guard lock(mutex_);
    idle.swap(idle_);
    idle_bytes_ = 0;
  }
  for (const auto& [capacity, blocks] : idle) {
    for (uint8_t* block : blocks) {
      pool_->Free(block, capacity, arrow::kDefaultBufferAlignment);
    }
  }
}

void RecyclingPool::ReleaseUnused() {
  FreeIdle();
  pool_->ReleaseUnused();
}

}  // namespace xshards
