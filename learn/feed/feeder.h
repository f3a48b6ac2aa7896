// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "learn/feed/batch_plan.h"
#include "learn/feed/batch_queue.h"
#include "learn/feed/epoch_order.h"
#include "learn/feed/feed_batch.h"
#include "learn/feed/row_source.h"
#include "learn/feed/tensor_block.h"
#include "xshards/export.h"
#include "xshards/storage/partition.h"

namespace xshards::learn {

struct XSHARDS_EXPORT FeedOptions {
  /// The tensors to make from rows; empty if partitions hold Tensors.
  std::vector<TensorSpec> tensors = {};
  int64_t batch_size = 32;  // rows of a step, over all replicas
  int num_replicas = 1;
  int replica = 0;  // the index of the replica that is fed
  ShuffleOptions order = {};
  int prefetch = 4;  // batches made ahead; more if they are small

  arrow::Status Validate() const;
};

/// Turns partitions into mini-batches for one replica, on a thread of its own.
///
/// All replicas with the same partitions, seed and batch size agree on the rows of each
/// step, whatever their number, so N replicas together see the rows that one would see;
/// and a replica that restarts at a step sees the same rows. Each row is fed once per
/// epoch. Start() and Next() are called by one thread.
class XSHARDS_EXPORT Feeder {
 public:
  /// The partitions must stay materialised: they are read again in each epoch.
  static arrow::Result<std::unique_ptr<Feeder>> Make(
      const std::vector<Partition>& partitions, FeedOptions options,
      arrow::MemoryPool* pool);
  ~Feeder();

  int64_t num_rows() const { return plan_.num_rows; }
  int64_t num_steps() const { return plan_.num_steps(); }

  /// Begin an epoch at any of its steps. Batches prefetched for another epoch are
  /// dropped.
  arrow::Status Start(int64_t epoch, int64_t first_step = 0);
  /// The next batch of the epoch that was started; empty after its last.
  arrow::Result<std::optional<FeedBatch>> Next();

 private:
  Feeder(RowSource source, FeedOptions options, arrow::MemoryPool* pool);
  void Stop();
  void MakeBatches(const std::stop_token& stop, int64_t epoch, int64_t first_step);

  const FeedOptions options_;
  arrow::MemoryPool* const pool_;
  RowSource source_;  // used by thread_ alone while it runs
  const BatchPlan plan_;
  bool ended_ = true;  // Next() returned the epoch's end or an error

  BatchQueue ready_;
  std::jthread thread_;
};

}  // namespace xshards::learn
