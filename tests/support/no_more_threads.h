// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace xshards::testing {

/// While one exists the system starts no thread, as at a limit of processes or memory.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, kNoStackSize);
    pthread_setattr_default_np(&large);
    pthread_attr_destroy(&large);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  // More than a process can address: no thread gets such a stack.
  static constexpr size_t kNoStackSize = size_t{1} << 60;

  pthread_attr_t before_;
};

}  // namespace xshards::testing
