// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards {

/// An object that can free memory by moving its bytes to disk.
class XSHARDS_EXPORT Spillable {
 public:
  virtual ~Spillable() = default;
  /// Move data in memory to disk; return the bytes freed (0 if none could be). Called
  /// from any thread, never while the budget's lock is held.
  virtual arrow::Result<int64_t> Spill() = 0;
};

/// Accounts for all memory of a Context: pool allocations, shared segments, explicit
/// reservations.
///
/// Allocations never fail or block: a thread that holds half-built data must be able to
/// finish. Instead, producers call MakeRoom() between batches; over the high mark it
/// spills the coldest registered data until usage is under the mark or nothing is left to
/// spill. Thread-safe.
class XSHARDS_EXPORT MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes);
  ~MemoryBudget();

  int64_t limit() const { return limit_; }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  int64_t spilled_bytes() const { return spilled_.load(std::memory_order_relaxed); }
  bool over_high_mark() const { return used() > high_mark_; }
  bool has_room_for(int64_t bytes) const { return used() + bytes <= high_mark_; }

  /// Count bytes in (positive) or out (negative).
  void Add(int64_t bytes);
  /// Count bytes written to spill files, for the profile.
  void CountSpilled(int64_t bytes) { spilled_.fetch_add(bytes); }

  /// Register data that may be spilled; the last registered or touched is spilled last.
  /// Expired entries are dropped.
  void Register(const std::weak_ptr<Spillable>& spillable);

  /// Set the function that frees idle memory and returns its bytes; called before
  /// anything is spilled. nullptr: none.
  void SetReclaim(std::function<int64_t()> reclaim);

  /// Spill cold data until `wanted` more bytes fit under the high mark, or nothing is
  /// left to spill.
  arrow::Status MakeRoom(int64_t wanted = 0);

  /// A pool whose allocations are counted here. Lives as long as the budget.
  /// It keeps the pages of large blocks that were freed, a quarter of the limit at most
  /// and no more than fit under the high mark. They do not count as used.
  arrow::MemoryPool* pool();

 private:
  class Pool;

  int64_t MostIdleBytes() const;
  int64_t Reclaim();

  const int64_t limit_;
  const int64_t high_mark_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> spilled_{0};
  std::mutex mutex_;  // guards cold_first_ and reclaim_
  std::list<std::weak_ptr<Spillable>> cold_first_;
  std::function<int64_t()> reclaim_;
  std::mutex spilling_;  // held by the one thread that spills
  std::unique_ptr<Pool> pool_;
};

/// Counts an operator's own memory (hash tables, builders) for as long as it lives.
class XSHARDS_EXPORT Reservation {
 public:
  explicit Reservation(MemoryBudget* budget) : budget_(budget) {}
  ~Reservation() { Resize(0); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  void Resize(int64_t bytes);

 private:
  MemoryBudget* budget_;
  int64_t bytes_ = 0;
};

}  // namespace xshards
