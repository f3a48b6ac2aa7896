// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace xshards::learn {

/// Tells whether a process is still there, by a descriptor of it, so that another process
/// with the same number is never taken for it. Not thread-safe.
class ProcessWatch {
 public:
  /// Watches nothing.
  ProcessWatch() = default;
  explicit ProcessWatch(pid_t pid);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;

  /// 0 if nothing is watched.
  pid_t pid() const { return pid_; }
  /// Whether the watched process has ended, waited for or not. This process never has.
  bool HasEnded() const;

 private:
  pid_t pid_ = 0;
  int fd_ = -1;
};

}  // namespace xshards::learn
