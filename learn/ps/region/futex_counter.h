// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace xshards::learn {

/// A counter in shared memory that processes can sleep on. To wait without losing a
/// wake-up: read the counter, check the condition it announces, then sleep on the value
/// read.
class Bell {
 public:
  uint32_t value() const { return value_.load(std::memory_order_acquire); }

  /// Increment and wake every sleeper, in this and other processes.
  void Ring();
  /// Sleep until the value differs from `seen` or the timeout expires; may wake early.
  void Wait(uint32_t seen, std::chrono::nanoseconds timeout);

 private:
  std::atomic<uint32_t> value_{0};
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
};

}  // namespace xshards::learn
