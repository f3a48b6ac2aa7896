// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/memory_budget.h"
#include "xshards/type_fwd.h"

namespace xshards {

enum class SegmentKind : uint8_t { kMemory, kDisk };

/// An append-only run of bytes behind a file descriptor with no name: a memfd or an
/// unlinked file in the spill directory. Having no name, it cannot be left behind,
/// however the process ends; and both kinds travel to another process by descriptor.
///
/// One writer appends; readers read what was appended before they were given the range.
class XSHARDS_EXPORT Segment {
 public:
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Take over a descriptor received from another process. The sender keeps the account
  /// of its bytes.
  static arrow::Result<std::shared_ptr<Segment>> Adopt(SegmentKind kind, int fd,
                                                       int64_t size);

  SegmentKind kind() const { return kind_; }
  int fd() const { return fd_; }
  int64_t size() const { return size_.load(); }

  /// A range of the segment.
  struct Range {
    int64_t offset = 0;
    int64_t length = 0;
  };

  /// Write a batch as an Arrow IPC stream at the end.
  arrow::Result<Range> Append(const arrow::RecordBatch& batch);

  /// Read a batch back. From memory: zero copy, the batch keeps the mapping alive. From
  /// disk: read into `pool`, never mapped, so that it counts in the budget.
  static arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(
      const std::shared_ptr<Segment>& segment, Range range, arrow::MemoryPool* pool);

  /// Say that another process has this segment: its pages are never reused.
  void MarkExported() { exported_ = true; }
  /// Start counting a segment that a worker process made.
  void Account(MemoryBudget* budget);

 private:
  friend class SegmentPool;
  Segment(SegmentKind kind, int fd, int64_t size, SegmentPool* pool,
          MemoryBudget* budget);
  static arrow::Result<std::shared_ptr<arrow::Buffer>> Map(
      const std::shared_ptr<Segment>& segment);
  /// Count pages of memory up to `size`; warm pages of a recycled memfd count already.
  void AccountUpTo(int64_t size);

  const SegmentKind kind_;
  const int fd_;
  std::atomic<int64_t> size_;
  SegmentPool* const pool_;  // where an unexported memfd goes back to; may be null
  MemoryBudget* budget_;     // may be null
  int64_t accounted_ = 0;    // bytes counted in budget_: the pages the memfd has
  std::atomic<bool> exported_{false};
  std::mutex mutex_;  // guards mapping_
  std::weak_ptr<arrow::Buffer> mapping_;
};

/// Makes segments, and keeps the pages of dropped memory segments warm for the next one:
/// the first touch of a fresh page costs ten times a write to a warm one. Thread-safe.
/// Outlives its segments.
class XSHARDS_EXPORT SegmentPool {
 public:
  /// `spill_directory` must exist and be writable: checked here, by making a file in it.
  static arrow::Result<std::unique_ptr<SegmentPool>> Make(std::string spill_directory,
                                                          MemoryBudget* budget,
                                                          int64_t max_idle_bytes);
  ~SegmentPool();

  arrow::Result<std::shared_ptr<Segment>> Create(SegmentKind kind);
  const std::string& spill_directory() const { return spill_directory_; }
  /// Give idle memory back to the system.
  void ReleaseIdle();

 private:
  friend class Segment;
  struct Idle {
    int fd;
    int64_t num_bytes;
  };
  SegmentPool(std::string spill_directory, MemoryBudget* budget, int64_t max_idle_bytes);
  /// Take an idle segment's descriptor back; false if it should be closed instead.
  bool Recycle(int fd, int64_t num_bytes);

  const std::string spill_directory_;
  MemoryBudget* const budget_;
  const int64_t max_idle_bytes_;
  std::mutex mutex_;  // guards idle_ and idle_bytes_
  std::vector<Idle> idle_;
  int64_t idle_bytes_ = 0;
};

}  // namespace xshards
