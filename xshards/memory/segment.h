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
#include "xshards/memory/memory_budget.h"
#include "xshards/type_fwd.h"

namespace xshards {

enum class SegmentKind : uint8_t { kMemory, kDisk };

/// How this process sees the bytes of a memory segment: as all do, read-only; or as its
/// own, writable: what it changes the kernel copies, page by page, and nobody else sees.
enum class SegmentMapping : uint8_t { kShared, kPrivate };

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
  /// of its bytes (SegmentPool::Adopt is for those that change hands).
  static arrow::Result<std::shared_ptr<Segment>> Adopt(
      SegmentKind kind, int fd, int64_t size,
      SegmentMapping mapping = SegmentMapping::kShared);

  SegmentKind kind() const { return kind_; }
  int fd() const { return fd_; }
  int64_t size() const { return size_.load(); }

  /// A range of the segment.
  struct Range {
    int64_t offset = 0;
    int64_t length = 0;
  };

  /// Write a batch as an Arrow IPC stream at the end. Appending is thread-safe.
  arrow::Result<Range> Append(const arrow::RecordBatch& batch);

  /// Write bytes as they are at the end.
  arrow::Result<Range> Append(const arrow::Buffer& bytes);

  /// Read a batch back. From memory: zero copy, the batch keeps the mapping alive. From
  /// disk: read into `pool`, never mapped, so that it counts in the budget.
  static arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(
      const std::shared_ptr<Segment>& segment, Range range, arrow::MemoryPool* pool);

  /// Map the whole of a memory segment; the buffer keeps the mapping and the segment.
  static arrow::Result<std::shared_ptr<arrow::Buffer>> Map(
      const std::shared_ptr<Segment>& segment);

  /// Say that another process has this segment: until it was taken back as often as it
  /// was lent, its pages are not reused.
  void Lend() { ++lent_; }
  void TakeBack() { --lent_; }
  /// Lend it empty, to be written by a process that may keep its pages mapped for the
  /// next time (see WarmMappings).
  void LendBlank(int64_t writer);
  /// Append through mappings of the pages that are there already; they outlive it.
  void WriteThrough(WarmMappings* mappings) { warm_ = mappings; }
  /// Say how far another process has written a segment that it was lent empty.
  void SetWritten(int64_t size);
  /// Count what is appended from now on in a budget.
  void CountIn(MemoryBudget* budget) { budget_ = budget; }
  /// The bytes that can be written without asking the system for pages.
  int64_t num_warm_bytes() const;
  /// True if several stores append to it, see SegmentPool::ForStore.
  bool has_many_stores() const { return capacity_ > 0; }

 private:
  friend class SegmentPool;
  Segment(SegmentKind kind, int fd, int64_t size, SegmentPool* pool,
          MemoryBudget* budget);
  template <typename Write>
  arrow::Result<Range> AppendWith(const Write& write);
  void Grow(int64_t begin, int64_t end);
  /// Count pages of memory up to `size`; warm pages of a recycled memfd count already.
  void AccountUpTo(int64_t size);

  const SegmentKind kind_;
  const int fd_;
  std::atomic<int64_t> size_;
  SegmentMapping mapping_kind_ = SegmentMapping::kShared;
  SegmentPool* const pool_;   // where a memfd that nobody else has goes; may be null
  MemoryBudget* budget_;      // may be null
  int64_t accounted_ = 0;     // bytes counted in budget_: the pages the memfd has
  std::atomic<int> lent_{0};  // how many other processes may have it mapped
  int64_t writer_ = 0;        // a process that may keep it mapped to write to; or 0
  int64_t capacity_ = 0;      // if it has many stores: how far it grows, about
  WarmMappings* warm_ = nullptr;
  std::mutex appending_;  // held by who appends
  std::mutex mutex_;      // guards mapping_
  std::weak_ptr<arrow::Buffer> mapping_;
};

}  // namespace xshards
