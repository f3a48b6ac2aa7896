// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>

namespace xshards {

/// Allocates from a pool, which keeps the pages of freed blocks: malloc returns large
/// blocks to the system, and faulting them in again costs more than filling them. By
/// default Arrow's pool, which is not part of a budget. Elements are not zeroed when a
/// vector grows.
template <typename T>
class ScratchAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  ScratchAllocator() : ScratchAllocator(arrow::default_memory_pool()) {}
  explicit ScratchAllocator(arrow::MemoryPool* pool) : pool_(pool) {}
  template <typename U>
  explicit ScratchAllocator(const ScratchAllocator<U>& other) : pool_(other.pool()) {}

  arrow::MemoryPool* pool() const { return pool_; }

  T* allocate(size_t count) {
    uint8_t* memory = nullptr;
    const auto bytes = static_cast<int64_t>(count * sizeof(T));
    if (!pool_->Allocate(bytes, &memory).ok()) {
      throw std::bad_alloc();  // as that of any vector would
    }
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    pool_->Free(reinterpret_cast<uint8_t*>(memory),
                static_cast<int64_t>(count * sizeof(T)));
  }
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
  }

  bool operator==(const ScratchAllocator&) const = default;

 private:
  arrow::MemoryPool* pool_;
};

/// For large, short-lived vectors.
template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace xshards
