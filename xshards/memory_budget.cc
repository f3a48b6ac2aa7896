// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory_budget.h"

#include <algorithm>
#include <string>
#include <utility>

#include "xshards/recycling_pool.h"

namespace xshards {

namespace {

// Of memory that is free but kept, whatever the limit.
constexpr int64_t kMaxIdleBytes = int64_t{1} << 30;

/// Passes to the process's default pool, recycling what is large, and counts what passes.
/// What is idle is not counted: it is given back before it matters.
class BudgetedPool final : public arrow::MemoryPool {
 public:
  explicit BudgetedPool(MemoryBudget* budget)
      : budget_(budget),
        recycling_(arrow::default_memory_pool(),
                   std::min(budget->limit() / 4, kMaxIdleBytes)),
        pool_(&recycling_) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    ARROW_RETURN_NOT_OK(pool_->Allocate(size, alignment, out));
    Count(size);
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** pointer) override {
    ARROW_RETURN_NOT_OK(pool_->Reallocate(old_size, new_size, alignment, pointer));
    Count(new_size - old_size);
    return arrow::Status::OK();
  }

  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    pool_->Free(buffer, size, alignment);
    Count(-size);
  }

  void ReleaseUnused() override { pool_->ReleaseUnused(); }
  int64_t bytes_allocated() const override { return allocated_.load(); }
  int64_t max_memory() const override { return budget_->peak(); }
  int64_t total_bytes_allocated() const override { return total_.load(); }
  int64_t num_allocations() const override { return count_.load(); }
  std::string backend_name() const override { return pool_->backend_name(); }

 private:
  void Count(int64_t bytes) {
    allocated_.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes > 0) {
      total_.fetch_add(bytes, std::memory_order_relaxed);
      count_.fetch_add(1, std::memory_order_relaxed);
    }
    budget_->Add(bytes);
    const int64_t idle = recycling_.idle_bytes();
    if (bytes > 0 && idle > 0 && !budget_->has_room_for(idle)) {
      recycling_.ReleaseUnused();
    }
  }

  MemoryBudget* budget_;
  RecyclingPool recycling_;
  arrow::MemoryPool* pool_;
  std::atomic<int64_t> allocated_{0};
  std::atomic<int64_t> total_{0};
  std::atomic<int64_t> count_{0};
};

}  // namespace

// Leaves a fifth for what is built between two calls of MakeRoom.
MemoryBudget::MemoryBudget(int64_t limit_bytes)
    : limit_(limit_bytes),
      high_mark_(limit_bytes / 5 * 4),
      pool_(std::make_unique<BudgetedPool>(this)) {}

MemoryBudget::~MemoryBudget() = default;

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
  if (used() + wanted <= high_mark_) return arrow::Status::OK();
  std::lock_guard one_at_a_time(spilling_);
  bool gave_back = false;
  while (used() + wanted > high_mark_) {
    // Also after each spill: the pages of what was spilled may be idle now.
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
  // Allocators keep freed pages; under a budget they must go back to the system.
  if (gave_back) pool_->ReleaseUnused();
  return arrow::Status::OK();
}

void Reservation::Resize(int64_t bytes) {
  budget_->Add(bytes - bytes_);
  bytes_ = bytes;
}

}  // namespace xshards
