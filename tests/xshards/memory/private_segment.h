// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unistd.h>

#include <arrow/record_batch.h>

#include "tests/support/test_data.h"
#include "xshards/memory/private_mapping.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/storage/block_store.h"

namespace xshards::testing {

/// A batch in a segment, seen as a worker sees its input: mapped privately.
class PrivateSegment {
 public:
  explicit PrivateSegment(const arrow::RecordBatch& batch) {
    pool_ = SegmentPool::Make(directory_.path(), &budget_, 0).ValueOrDie();
    original_ = pool_->Create(SegmentKind::kMemory).ValueOrDie();
    range_ = original_->Append(batch).ValueOrDie();
    own_ = Segment::Adopt(SegmentKind::kMemory, dup(original_->fd()), original_->size(),
                          SegmentMapping::kPrivate)
               .ValueOrDie();
    memory_ = PrivateMemory::Map(std::vector{own_}).ValueOrDie();
    batch_ = Segment::Read(own_, range_, budget_.pool()).ValueOrDie();
  }

  const std::shared_ptr<arrow::RecordBatch>& batch() const { return batch_; }
  std::shared_ptr<arrow::RecordBatch> Original() const {
    return Segment::Read(original_, range_, arrow::default_memory_pool()).ValueOrDie();
  }
  PrivateMemory& memory() { return *memory_; }
  const std::shared_ptr<Segment>& segment() const { return own_; }
  StorageEnvironment environment() {
    return {.budget = &budget_, .segments = pool_.get(), .inputs = memory_.get()};
  }
  MemoryBudget& budget() { return budget_; }

  /// The values of a column, to be written to.
  template <typename T>
  T* Values(int column) {
    const auto& data = *batch_->column_data(column);
    return const_cast<T*>(data.GetValues<T>(1));
  }

 private:
  TemporaryDirectory directory_;
  MemoryBudget budget_{1LL << 30};
  std::unique_ptr<SegmentPool> pool_;
  std::shared_ptr<Segment> original_;
  Segment::Range range_;
  std::shared_ptr<Segment> own_;
  std::unique_ptr<PrivateMemory> memory_;
  std::shared_ptr<arrow::RecordBatch> batch_;
};

}  // namespace xshards::testing
