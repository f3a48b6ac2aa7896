// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/futex_counter.h"

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace xshards::learn {

namespace {

// Not FUTEX_PRIVATE_FLAG: the sleepers are in other processes.
uint32_t* FutexWord(std::atomic<uint32_t>* value) {
  static_assert(sizeof(*value) == sizeof(uint32_t));
  return reinterpret_cast<uint32_t*>(value);
}

}  // namespace

void Bell::Ring() {
  value_.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, FutexWord(&value_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Bell::Wait(uint32_t seen, std::chrono::nanoseconds timeout) {
  if (timeout.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timespec relative{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
  // Whatever it returns, the caller checks again.
  syscall(SYS_futex, FutexWord(&value_), FUTEX_WAIT, seen, &relative, nullptr, 0);
}

}  // namespace xshards::learn
