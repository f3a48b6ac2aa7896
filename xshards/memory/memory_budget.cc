// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/memory_budget.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "xshards/memory/huge_page_pool.h"

namespace xshards {

namespace {

constexpr int64_t kPageBytes = 4096;  // what WarmBlocks aligns to

#ifdef __SANITIZE_ADDRESS__
// The sanitizer checks the bounds of its own allocator's blocks only.
constexpr int64_t kMinBlockBytes = std::numeric_limits<int64_t>::max();
#else
constexpr int64_t kMinBlockBytes = WarmBlocks::kMinBlockBytes;
#endif

// Pages of freed blocks are kept for later ones, up to this share of the limit.
constexpr int64_t kMostIdlePart = 4;

}  // namespace

/// Allocates large blocks from WarmBlocks and others from the process's default pool, and
/// counts all bytes.
class MemoryBudget::Pool final : public arrow::MemoryPool {
 public:
  explicit Pool(MemoryBudget* budget)
      : budget_(budget), pool_(arrow::default_memory_pool()) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    ARROW_RETURN_NOT_OK(Take(size, alignment, out));
    Count(size);
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** pointer) override {
    if (IsSmall(old_size, alignment) && IsSmall(new_size, alignment)) {
      ARROW_RETURN_NOT_OK(pool_->Reallocate(old_size, new_size, alignment, pointer));
    } else if (IsSmall(old_size, alignment) || IsSmall(new_size, alignment) ||
               !blocks_.Resize(*pointer, old_size, new_size)) {
      uint8_t* moved = nullptr;
      ARROW_RETURN_NOT_OK(Take(new_size, alignment, &moved));
      std::memcpy(moved, *pointer, static_cast<size_t>(std::min(old_size, new_size)));
      GiveBack(*pointer, old_size, alignment);
      *pointer = moved;
    }
    Count(new_size - old_size);
    return arrow::Status::OK();
  }

  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    Count(-size);
    GiveBack(buffer, size, alignment);
  }

  void ReleaseUnused() override {
    blocks_.ReleaseIdle();
    pool_->ReleaseUnused();
  }
  int64_t idle_bytes() const { return blocks_.idle_bytes(); }
  void ReleaseIdle() { blocks_.ReleaseIdle(); }

  int64_t bytes_allocated() const override { return allocated_.load(); }
  int64_t max_memory() const override { return budget_->peak(); }
  int64_t total_bytes_allocated() const override { return total_.load(); }
  int64_t num_allocations() const override { return count_.load(); }
  std::string backend_name() const override { return pool_->backend_name(); }

 private:
  static bool IsSmall(int64_t size, int64_t alignment) {
    return size < kMinBlockBytes || alignment > kPageBytes;
  }

  arrow::Status Take(int64_t size, int64_t alignment, uint8_t** out) {
    if (IsSmall(size, alignment)) return pool_->Allocate(size, alignment, out);
    *out = blocks_.Allocate(size);
    if (*out != nullptr) return arrow::Status::OK();
    return arrow::Status::OutOfMemory("Could not allocate ", size, " bytes");
  }

  void GiveBack(uint8_t* buffer, int64_t size, int64_t alignment) {
    if (IsSmall(size, alignment)) {
      pool_->Free(buffer, size, alignment);
    } else {
      blocks_.Free(buffer, size, budget_->MostIdleBytes());
    }
  }

  void Count(int64_t bytes) {
    allocated_.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes > 0) {
      total_.fetch_add(bytes, std::memory_order_relaxed);
      count_.fetch_add(1, std::memory_order_relaxed);
    }
    budget_->Add(bytes);
  }

  MemoryBudget* budget_;
  arrow::MemoryPool* pool_;
  WarmBlocks blocks_;
  std::atomic<int64_t> allocated_{0};
  std::atomic<int64_t> total_{0};
  std::atomic<int64_t> count_{0};
};

// Leaves a fifth for allocations between two calls of MakeRoom.
MemoryBudget::MemoryBudget(int64_t limit_bytes)
    : limit_(limit_bytes),
      high_mark_(limit_bytes / 5 * 4),
      pool_(std::make_unique<Pool>(this)) {}

MemoryBudget::~MemoryBudget() = default;

arrow::MemoryPool* MemoryBudget::pool() { return pool_.get(); }

int64_t MemoryBudget::MostIdleBytes() const {
  return std::clamp<int64_t>(high_mark_ - used(), 0, limit_ / kMostIdlePart);
}

void MemoryBudget::Add(int64_t bytes) {
  int64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

void MemoryBudget::Register(const std::weak_ptr<Spillable>& spillable) {
  std::lock_guard lock(mutex_);
  while (!cold_first_.empty() && cold_first_.front().expired()) cold_first_.pop_front();
  cold_first_.push_back(spillable);
}

void MemoryBudget::SetReclaim(std::function<int64_t()> reclaim) {
  std::lock_guard lock(mutex_);
  reclaim_ = std::move(reclaim);
}

int64_t MemoryBudget::Reclaim() {
  std::lock_guard lock(mutex_);
  return reclaim_ ? reclaim_() : 0;
}

arrow::Status MemoryBudget::MakeRoom(int64_t wanted) {
  if (used() + wanted + pool_->idle_bytes() <= high_mark_) return arrow::Status::OK();
  pool_->ReleaseIdle();
  if (used() + wanted <= high_mark_) return arrow::Status::OK();
  std::lock_guard one_at_a_time(spilling_);
  bool gave_back = false;
  while (used() + wanted > high_mark_) {
    // Also after each spill: the pages of spilled data may be idle now.
    if (Reclaim() > 0) {
      gave_back = true;
      continue;
    }
    std::shared_ptr<Spillable> coldest;
    {
      std::lock_guard lock(mutex_);
      while (coldest == nullptr && !cold_first_.empty()) {
        coldest = cold_first_.front().lock();
        cold_first_.pop_front();
      }
    }
    if (coldest == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(int64_t bytes, coldest->Spill());
    gave_back |= bytes > 0;
  }
  // Allocators keep freed pages; under a budget they must be returned to the system.
  if (gave_back) pool_->ReleaseUnused();
  return arrow::Status::OK();
}

void Reservation::Resize(int64_t bytes) {
  budget_->Add(bytes - bytes_);
  bytes_ = bytes;
}

}  // namespace xshards
