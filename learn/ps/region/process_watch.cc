// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/process_watch.h"

#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace xshards::learn {

ProcessWatch::ProcessWatch(pid_t pid) : pid_(pid) {
  if (pid != 0 && pid != getpid()) {
    fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  }
}

ProcessWatch::~ProcessWatch() {
  if (fd_ >= 0) close(fd_);
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), fd_(std::exchange(other.fd_, -1)) {}

ProcessWatch& ProcessWatch::operator=(ProcessWatch&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(fd_, other.fd_);
  return *this;
}

bool ProcessWatch::HasEnded() const {
  if (pid_ == 0 || pid_ == getpid()) return false;
  // No descriptor: the process had ended before it was watched, or descriptors have run
  // out. kill with signal 0 distinguishes the two.
  if (fd_ < 0) return kill(pid_, 0) != 0;
  pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace xshards::learn
