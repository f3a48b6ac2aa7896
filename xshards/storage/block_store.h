// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment.h"
#include "xshards/storage/array_reference.h"
#include "xshards/type_fwd.h"

namespace xshards {

/// Where the bytes are. A store may hold both heap and file blocks while it spills.
enum class Storage : uint8_t { kHeap, kShared, kFile };

XSHARDS_EXPORT const char* ToString(Storage storage);

/// What a store needs from its Context; plain pointers that outlive every store.
struct StorageEnvironment {
  MemoryBudget* budget = nullptr;
  SegmentPool* segments = nullptr;
  /// In a worker: its inputs. Output located there is published by reference.
  PrivateMemory* inputs = nullptr;
};

/// One fragment's output: batches ("blocks"), each for one output partition
/// ("destination"), with an index of where each is.
///
/// Publishing writes everything to destination 0; an exchange to 0..n-1. Immutable once
/// finished, except that Spill() may move bytes from memory to disk at any time, unseen
/// by readers. Thread-safe.
class XSHARDS_EXPORT BlockStore final : public Spillable {
 public:
  /// One block: on the heap (`batch`); or in `segment`, as an Arrow IPC stream at
  /// `range`, except columns that are references; `references` then has one entry per
  /// column.
  struct Block {
    int32_t destination = 0;
    int64_t num_rows = 0;
    int64_t num_bytes = 0;
    std::shared_ptr<arrow::Schema> schema;
    std::shared_ptr<arrow::RecordBatch> batch;
    std::shared_ptr<Segment> segment;  // nullptr also if all columns are references
    Segment::Range range;
    std::vector<std::optional<ArrayReference>> references;

    bool on_heap() const { return batch != nullptr; }
    bool all_references() const { return batch == nullptr && segment == nullptr; }
    bool on_disk() const {
      return segment != nullptr && segment->kind() == SegmentKind::kDisk &&
             references.empty();
    }
  };

  /// Wrap existing batches in memory, all for destination 0. They belong to the caller:
  /// not spilled.
  static std::shared_ptr<BlockStore> FromBatches(arrow::RecordBatchVector batches);
  /// Assemble a store from blocks, as a process that received them does. `spillable` says
  /// whether this process may move them.
  static std::shared_ptr<BlockStore> FromBlocks(std::vector<Block> blocks,
                                                StorageEnvironment environment,
                                                bool spillable);

  /// The blocks' index; `batch` may be stale by the time it is used, so read blocks with
  /// ReadBlock.
  std::vector<Block> blocks() const;
  Block block(size_t index) const;
  size_t num_blocks() const;
  Storage storage() const;
  int64_t num_bytes() const;

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadBlock(size_t index) const;

  /// Move blocks to disk. Processes that have them mapped keep their view.
  arrow::Result<int64_t> Spill() override;
  /// Move heap blocks to a memory segment, so that another process can read them. The
  /// rows of a published Table become contiguous there: a function gets them as one frame
  /// without a copy (see JoinAdjacent).
  arrow::Status Share(SegmentPool& segments);
  /// Move a small store from its own segments to a shared one, if many segments are open
  /// (see SegmentPool::ForStore).
  arrow::Status Consolidate(SegmentPool& segments);

 private:
  friend class BlockWriter;
  BlockStore(StorageEnvironment environment, bool spillable);
  /// Move the heap blocks as one batch, each a slice of it, if they can be joined.
  arrow::Status ShareTogether(SegmentPool& segments);
  /// Write blocks that `moves` chooses to a segment of a kind; returns their bytes.
  template <typename Moves>
  arrow::Result<int64_t> MoveBlocks(SegmentPool& segments, SegmentKind kind,
                                    const Moves& moves);
  /// The file that holds blocks of this store, if any.
  std::shared_ptr<Segment> DiskSegment() const;
  void Add(Block block);

  const StorageEnvironment environment_;
  const bool spillable_;
  std::mutex moving_;  // held while heap blocks are written out; taken before mutex_
  // Guarded by moving_: the blocks before this one are on disk or not spillable.
  size_t num_spilled_ = 0;
  mutable std::mutex
      mutex_;  // guards blocks_, which only grow until the store is finished
  std::vector<Block> blocks_;
  std::atomic<size_t> num_on_heap_{0};
};

/// Writes a fragment's output. Used by one thread; Finish() publishes it.
class XSHARDS_EXPORT BlockWriter {
 public:
  /// `storage` kHeap keeps batches unchanged; kShared writes them to a segment that other
  /// processes can map. Either goes to disk while the budget is over its mark.
  BlockWriter(StorageEnvironment environment, Storage storage);

  /// Add a batch for a destination. Empty batches are kept: they carry the schema. May
  /// spill other data, or the blocks appended so far.
  arrow::Status Append(int32_t destination, std::shared_ptr<arrow::RecordBatch> batch);
  arrow::Result<std::shared_ptr<BlockStore>> Finish();

  int64_t num_rows() const { return num_rows_; }
  int64_t num_bytes() const { return num_bytes_; }
  /// The bytes written to segments, without heap blocks and references.
  int64_t bytes_written() const { return bytes_written_; }
  const StorageEnvironment& environment() const { return environment_; }

 private:
  /// Move a block from the heap to a segment.
  arrow::Status Place(BlockStore::Block& block);
  /// Take the columns of a block that are located in the inputs as references, and leave
  /// the others in its batch (nullptr if there are none).
  arrow::Status TakeReferences(BlockStore::Block& block);
  arrow::Result<std::shared_ptr<Segment>> OwnSegment(bool on_disk,
                                                     int64_t expected_bytes);

  const StorageEnvironment environment_;
  const Storage storage_;
  std::shared_ptr<BlockStore> store_;
  std::shared_ptr<Segment> memory_segment_;
  std::shared_ptr<Segment> disk_segment_;
  int64_t num_rows_ = 0;
  int64_t num_bytes_ = 0;
  int64_t bytes_written_ = 0;
};

}  // namespace xshards
