// SPDX-License-Identifier: Apache-2.0
#include "xshards/segment_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace xshards {

namespace {

// Below this the pages of a segment are not worth choosing between.
constexpr int64_t kSmall = 1LL << 20;
// An idle segment is an open descriptor too: few pages are not worth one, nor are many
// segments.
constexpr int64_t kWorthKeeping = 64LL << 10;
constexpr size_t kMaxIdle = 256;

/// True if warm pages are not so many more than expected that most would lie idle under
/// data that lives on.
bool Suits(int64_t warm_bytes, int64_t expected_bytes) {
  return warm_bytes <= std::max(kSmall, 4 * expected_bytes);
}

arrow::Result<int> OpenUnnamedFile(const std::string& directory) {
  int fd = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Not every file system has O_TMPFILE.
  std::string path = directory + "/xshards-XXXXXX";
  fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return arrow::Status::IOError("Cannot write to the spill directory '", directory,
                                  "': ", std::strerror(errno),
                                  ". Pass a directory that exists and is writable");
  }
  unlink(path.c_str());
  return fd;
}

arrow::Result<int> OpenMemory() {
  int fd = memfd_create("xshards", MFD_CLOEXEC);
  if (fd < 0) {
    return arrow::Status::IOError("memfd_create failed: ", std::strerror(errno));
  }
  return fd;
}

}  // namespace

SegmentPool::SegmentPool(std::string spill_directory, MemoryBudget* budget,
                         int64_t max_idle_bytes)
    : spill_directory_(std::move(spill_directory)),
      budget_(budget),
      max_idle_bytes_(max_idle_bytes) {
  if (budget_ != nullptr) budget_->SetReclaim([this] { return ReleaseIdle(); });
}

SegmentPool::~SegmentPool() {
  if (budget_ != nullptr) budget_->SetReclaim(nullptr);
  ReleaseIdle();
}

arrow::Result<std::unique_ptr<SegmentPool>> SegmentPool::Make(std::string spill_directory,
                                                              MemoryBudget* budget,
                                                              int64_t max_idle_bytes) {
  ARROW_ASSIGN_OR_RAISE(int probe, OpenUnnamedFile(spill_directory));
  close(probe);
  return std::unique_ptr<SegmentPool>(
      new SegmentPool(std::move(spill_directory), budget, max_idle_bytes));
}

arrow::Result<std::shared_ptr<Segment>> SegmentPool::Create(SegmentKind kind,
                                                            int64_t expected_bytes) {
  int fd = -1;
  if (kind == SegmentKind::kDisk) {
    ARROW_ASSIGN_OR_RAISE(fd, OpenUnnamedFile(spill_directory_));
  } else {
    auto segment = TakeOffer(expected_bytes);
    if (segment == nullptr) segment = TakeIdle(expected_bytes);
    if (segment != nullptr) return segment;
    ARROW_ASSIGN_OR_RAISE(fd, OpenMemory());
  }
  return std::shared_ptr<Segment>(new Segment(kind, fd, 0, this, budget_));
}

std::shared_ptr<Segment> SegmentPool::TakeIdle(int64_t expected_bytes) {
  Idle idle{};
  {
    std::lock_guard lock(mutex_);
    // The smallest that holds all; else the largest there is.
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (!Suits(it->num_bytes, expected_bytes)) continue;
      const bool holds_all = it->num_bytes >= expected_bytes;
      if (best == idle_.end() || (best->num_bytes < expected_bytes
                                      ? it->num_bytes > best->num_bytes
                                      : holds_all && it->num_bytes < best->num_bytes)) {
        best = it;
      }
    }
    if (best == idle_.end()) return nullptr;
    idle = *best;
    *best = idle_.back();
    idle_.pop_back();
    idle_bytes_ -= idle.num_bytes;
  }
  auto segment = std::shared_ptr<Segment>(
      new Segment(SegmentKind::kMemory, idle.fd, 0, this, budget_));
  segment->accounted_ = idle.num_bytes;
  return segment;
}

std::shared_ptr<Segment> SegmentPool::Adopt(SegmentKind kind, int fd, int64_t size) {
  auto segment = std::shared_ptr<Segment>(new Segment(kind, fd, size, this, budget_));
  segment->AccountUpTo(size);
  return segment;
}

void SegmentPool::Offer(std::shared_ptr<Segment> blank) {
  blank->CountIn(budget_);
  std::lock_guard lock(mutex_);
  offered_.push_back(std::move(blank));
}

void SegmentPool::WithdrawOffers() {
  std::lock_guard lock(mutex_);
  offered_.clear();
}

std::shared_ptr<Segment> SegmentPool::TakeOffer(int64_t expected_bytes) {
  std::lock_guard lock(mutex_);
  auto found = std::find_if(offered_.begin(), offered_.end(), [&](const auto& offered) {
    return Suits(offered->num_warm_bytes(), expected_bytes);
  });
  if (found == offered_.end()) return nullptr;
  auto segment = std::move(*found);
  offered_.erase(found);
  return segment;
}

bool SegmentPool::Recycle(int fd, int64_t num_bytes) {
  std::lock_guard lock(mutex_);
  if (num_bytes < kWorthKeeping || idle_.size() >= kMaxIdle ||
      idle_bytes_ + num_bytes > max_idle_bytes_) {
    return false;
  }
  idle_.push_back({.fd = fd, .num_bytes = num_bytes});
  idle_bytes_ += num_bytes;
  return true;
}

int64_t SegmentPool::ReleaseIdle() {
  std::lock_guard lock(mutex_);
  for (const Idle& idle : idle_) close(idle.fd);
  if (budget_ != nullptr) budget_->Add(-idle_bytes_);
  idle_.clear();
  return std::exchange(idle_bytes_, 0);
}

}  // namespace xshards
