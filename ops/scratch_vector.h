// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>

namespace xshards::ops {

/// Takes memory from Arrow's allocator, which keeps the pages of what is freed: malloc
/// gives large pieces back to the system, and to get them again costs more than to fill
/// them. Not counted in any budget; elements of a new size are not zeroed.
template <typename T>
struct ScratchAllocator {
  using value_type = T;

  ScratchAllocator() = default;
  template <typename U>
  explicit ScratchAllocator(const ScratchAllocator<U>&) {}

  T* allocate(size_t count) {
    uint8_t* memory = nullptr;
    const auto bytes = static_cast<int64_t>(count * sizeof(T));
    if (!arrow::default_memory_pool()->Allocate(bytes, &memory).ok()) {
      throw std::bad_alloc();  // as that of any vector would
    }
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    arrow::default_memory_pool()->Free(reinterpret_cast<uint8_t*>(memory),
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
};

/// For large vectors that live shortly.
template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace xshards::ops
