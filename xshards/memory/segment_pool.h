// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment.h"

namespace xshards {

/// Makes segments, and keeps the pages of dropped memory segments warm for the next one:
/// the first touch of a fresh page costs ten times a write to a warm one. Idle pages
/// count in the budget and are the first to be freed when it needs room. Thread-safe.
/// Outlives its segments.
class XSHARDS_EXPORT SegmentPool {
 public:
  /// `spill_directory` must exist and be writable: checked here, by making a file in it.
  static arrow::Result<std::unique_ptr<SegmentPool>> Make(std::string spill_directory,
                                                          MemoryBudget* budget,
                                                          int64_t max_idle_bytes);
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  /// An empty segment, with warm pages if an idle segment fits the expected number of
  /// bytes.
  arrow::Result<std::shared_ptr<Segment>> Create(SegmentKind kind,
                                                 int64_t expected_bytes = 0);
  /// A segment for a store of about `num_bytes` to append to. Each is an open descriptor,
  /// of which a process has few: once many are open, small stores share one, which then
  /// lives as long as any of them.
  arrow::Result<std::shared_ptr<Segment>> ForStore(SegmentKind kind, int64_t num_bytes);
  /// True if ForStore would let a store of this size share a segment.
  bool WouldShare(int64_t num_bytes) const;
  /// An empty memory segment with warm pages, or nullptr if none fits: to be written by
  /// another process, preferably one that `writer` has written before.
  std::shared_ptr<Segment> TakeIdle(int64_t expected_bytes, int64_t writer = 0);
  /// Take over a segment that another process made, and account for its bytes. `writer`,
  /// if not 0, may keep its pages mapped (see Segment::LendBlank).
  std::shared_ptr<Segment> Adopt(SegmentKind kind, int fd, int64_t size,
                                 int64_t writer = 0);

  /// Let Create() return this segment, which another process lent, until withdrawn.
  void Offer(std::shared_ptr<Segment> blank);
  void WithdrawOffers();

  const std::string& spill_directory() const { return spill_directory_; }
  /// Return idle memory to the system; gives the number of bytes.
  int64_t ReleaseIdle();

 private:
  friend class Segment;
  struct Idle {
    int fd;
    int64_t num_bytes;
    int64_t writer;
  };
  SegmentPool(std::string spill_directory, MemoryBudget* budget, int64_t max_idle_bytes);
  /// Take an idle segment's descriptor back; false if it should be closed instead.
  bool Recycle(Idle idle);
  /// Close a descriptor and update the budget. The pages of an `unseen` one are freed,
  /// even if a process that wrote to it has it mapped.
  void Close(Idle idle, bool unseen);
  void CountOpen(int change) { num_open_ += change; }
  std::shared_ptr<Segment> TakeOffer(int64_t expected_bytes);

  const std::string spill_directory_;
  MemoryBudget* const budget_;
  const int64_t max_idle_bytes_;
  const pid_t owner_;  // a forked child must not modify the shared pages
  std::atomic<int> num_open_{0};
  std::mutex mutex_;  // guards idle_, idle_bytes_ and offered_
  std::vector<Idle> idle_;
  int64_t idle_bytes_ = 0;
  std::vector<std::shared_ptr<Segment>> offered_;
  std::mutex sharing_;  // guards many_stores_; taken before mutex_
  std::array<std::weak_ptr<Segment>, 2>
      many_stores_;  // by kind: the segments that ForStore shares
};

}  // namespace xshards
