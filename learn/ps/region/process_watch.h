// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace xshards::learn {

/// Checks whether a process is alive, by a pidfd, so that a process that reuses its pid
/// is never mistaken for it. Not thread-safe.
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
  /// Whether the watched process has ended, reaped or not. False for this process itself.
  bool HasEnded() const;

 private:
  pid_t pid_ = 0;
  int fd_ = -1;
};

}  // namespace xshards::learn
