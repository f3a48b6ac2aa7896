// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/segment_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace xshards {

namespace {

// Segments with fewer pages are not worth choosing between.
constexpr int64_t kSmall = 1LL << 20;
// An idle segment keeps a descriptor open: few pages are not worth one, nor are many
// segments.
constexpr int64_t kWorthKeeping = 64LL << 10;
constexpr size_t kMaxIdle = 256;
// From this many open segments on, stores of at most this many bytes share one; see
// ForStore.
constexpr int kMany = 64;
constexpr int64_t kFewBytes = 64LL << 10;
constexpr int kTooMany = 256;
constexpr int64_t kModestBytes = 1LL << 20;
// A shared segment grows up to the size at which a store gets its own.
constexpr int64_t kSharedCapacity = 16LL << 20;

/// True unless there are far more warm pages than expected bytes, so that most would stay
/// idle as long as the data lives.
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
      max_idle_bytes_(max_idle_bytes),
      owner_(getpid()) {
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

bool SegmentPool::WouldShare(int64_t num_bytes) const {
  const int open = num_open_.load(std::memory_order_relaxed);
  return open >= kMany && num_bytes <= (open >= kTooMany ? kModestBytes : kFewBytes);
}

arrow::Result<std::shared_ptr<Segment>> SegmentPool::ForStore(SegmentKind kind,
                                                              int64_t num_bytes) {
  if (!WouldShare(num_bytes)) return Create(kind, num_bytes);
  std::lock_guard lock(sharing_);
  auto& current = many_stores_[static_cast<size_t>(kind)];
  auto shared = current.lock();
  if (shared == nullptr || shared->size() + num_bytes > kSharedCapacity) {
    ARROW_ASSIGN_OR_RAISE(shared, Create(kind, kSharedCapacity));
    shared->capacity_ = kSharedCapacity;
    current = shared;
  }
  return shared;
}

std::shared_ptr<Segment> SegmentPool::TakeIdle(int64_t expected_bytes, int64_t writer) {
  // The one that this writer has mapped; else the smallest that is large enough; else the
  // largest.
  const auto preference = [&](const Idle& idle) {
    const bool holds_all = idle.num_bytes >= expected_bytes;
    return std::tuple(holds_all, writer != 0 && idle.writer == writer,
                      holds_all ? -idle.num_bytes : idle.num_bytes);
  };
  Idle idle{};
  {
    std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (!Suits(it->num_bytes, expected_bytes)) continue;
      if (best == idle_.end() || preference(*it) > preference(*best)) best = it;
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
  segment->writer_ = idle.writer;
  return segment;
}

std::shared_ptr<Segment> SegmentPool::Adopt(SegmentKind kind, int fd, int64_t size,
                                            int64_t writer) {
  auto segment = std::shared_ptr<Segment>(new Segment(kind, fd, size, this, budget_));
  segment->writer_ = writer;
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

bool SegmentPool::Recycle(Idle idle) {
  std::lock_guard lock(mutex_);
  if (idle.num_bytes < kWorthKeeping || idle_.size() >= kMaxIdle ||
      idle_bytes_ + idle.num_bytes > max_idle_bytes_) {
    return false;
  }
  idle_.push_back(idle);
  idle_bytes_ += idle.num_bytes;
  return true;
}

void SegmentPool::Close(Idle idle, bool unseen) {
  // Truncated, so that a mapping kept for reuse pins no page. If that fails, the mapping
  // still ends with its process, or when it is old.
  if (idle.writer != 0 && unseen && getpid() == owner_ && ftruncate(idle.fd, 0) != 0) {
    errno = 0;
  }
  close(idle.fd);
  if (budget_ != nullptr) budget_->Add(-idle.num_bytes);
}

int64_t SegmentPool::ReleaseIdle() {
  std::lock_guard lock(mutex_);
  for (const Idle& idle : idle_) Close(idle, /*unseen=*/true);
  idle_.clear();
  return std::exchange(idle_bytes_, 0);
}

}  // namespace xshards
