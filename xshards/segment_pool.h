// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/memory_budget.h"
#include "xshards/segment.h"

namespace xshards {

/// Makes segments, and keeps the pages of dropped memory segments warm for the next one:
/// the first touch of a fresh page costs ten times a write to a warm one. Idle pages
/// count in the budget and are the first to go when it needs room. Thread-safe. Outlives
/// its segments.
class XSHARDS_EXPORT SegmentPool {
 public:
  /// `spill_directory` must exist and be writable: checked here, by making a file in it.
  static arrow::Result<std::unique_ptr<SegmentPool>> Make(std::string spill_directory,
                                                          MemoryBudget* budget,
                                                          int64_t max_idle_bytes);
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  /// An empty segment, with warm pages if there are idle ones that suit the bytes that
  /// are expected to be written to it.
  arrow::Result<std::shared_ptr<Segment>> Create(SegmentKind kind,
                                                 int64_t expected_bytes = 0);
  /// An empty memory segment with warm pages, or nullptr if none suits: to be written by
  /// another process.
  std::shared_ptr<Segment> TakeIdle(int64_t expected_bytes);
  /// Take over a segment that another process made, with the account of its bytes.
  std::shared_ptr<Segment> Adopt(SegmentKind kind, int fd, int64_t size);

  /// Let Create() give this segment, which another process lent; until withdrawn.
  void Offer(std::shared_ptr<Segment> blank);
  void WithdrawOffers();

  const std::string& spill_directory() const { return spill_directory_; }
  /// Give idle memory back to the system; returns how much.
  int64_t ReleaseIdle();

 private:
  friend class Segment;
  struct Idle {
    int fd;
    int64_t num_bytes;
  };
  SegmentPool(std::string spill_directory, MemoryBudget* budget, int64_t max_idle_bytes);
  /// Take an idle segment's descriptor back; false if it should be closed instead.
  bool Recycle(int fd, int64_t num_bytes);
  std::shared_ptr<Segment> TakeOffer(int64_t expected_bytes);

  const std::string spill_directory_;
  MemoryBudget* const budget_;
  const int64_t max_idle_bytes_;
  std::mutex mutex_;  // guards idle_, idle_bytes_ and offered_
  std::vector<Idle> idle_;
  int64_t idle_bytes_ = 0;
  std::vector<std::shared_ptr<Segment>> offered_;
};

}  // namespace xshards
