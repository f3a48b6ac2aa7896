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

/// How this process maps a memory segment: shared and read-only, or private and writable:
/// the kernel copies changed pages, and no other process sees the changes.
enum class SegmentMapping : uint8_t { kShared, kPrivate };

/// Append-only bytes of an unnamed file: a memfd or an unlinked file in the spill
/// directory. Having no name, it cannot outlive the processes that use it, however they
/// end; both kinds can be sent to another process by descriptor.
///
/// One writer appends; readers read only ranges that were written before they got them.
class XSHARDS_EXPORT Segment {
 public:
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Take over a descriptor received from another process. The sender keeps accounting
  /// for its bytes (SegmentPool::Adopt transfers ownership).
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

  /// Append a batch as an Arrow IPC stream. Thread-safe.
  arrow::Result<Range> Append(const arrow::RecordBatch& batch);

  /// Append raw bytes.
  arrow::Result<Range> Append(const arrow::Buffer& bytes);

  /// Read a batch back. From memory: zero copy, the batch keeps the mapping alive. From
  /// disk: read into `pool`, never mapped, so that it counts in the budget.
  static arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(
      const std::shared_ptr<Segment>& segment, Range range, arrow::MemoryPool* pool);

  /// Map a complete memory segment; the buffer keeps the mapping and the segment alive.
  static arrow::Result<std::shared_ptr<arrow::Buffer>> Map(
      const std::shared_ptr<Segment>& segment);

  /// Record that another process uses this segment: its pages are not reused until it was
  /// taken back as often as it was lent.
  void Lend() { ++lent_; }
  void TakeBack() { --lent_; }
  /// Lend it empty, to be written by a process that may keep its pages mapped for the
  /// next time (see WarmMappings).
  void LendBlank(int64_t writer);
  /// Append through mappings of the existing pages; they outlive the segment.
  void WriteThrough(WarmMappings* mappings) { warm_ = mappings; }
  /// Set how many bytes another process has written to a segment that it was lent empty.
  void SetWritten(int64_t size);
  /// Charge bytes appended from now on to a budget.
  void CountIn(MemoryBudget* budget) { budget_ = budget; }
  /// The bytes that can be written without new pages from the system.
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
  /// Charge pages of memory up to `size`; warm pages of a recycled memfd are already
  /// counted.
  void AccountUpTo(int64_t size);

  const SegmentKind kind_;
  const int fd_;
  std::atomic<int64_t> size_;
  SegmentMapping mapping_kind_ = SegmentMapping::kShared;
  SegmentPool* const pool_;   // takes back a memfd that is not shared; may be null
  MemoryBudget* budget_;      // may be null
  int64_t accounted_ = 0;     // bytes charged to budget_: the pages of the memfd
  std::atomic<int> lent_{0};  // number of other processes that may have it mapped
  int64_t writer_ = 0;        // a process that may keep it mapped for writing; or 0
  int64_t capacity_ = 0;      // approximate final size if several stores share it
  WarmMappings* warm_ = nullptr;
  std::mutex appending_;  // held while appending
  std::mutex mutex_;      // guards mapping_
  std::weak_ptr<arrow::Buffer> mapping_;
};

}  // namespace xshards
