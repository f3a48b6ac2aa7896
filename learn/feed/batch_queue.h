// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <arrow/result.h>

#include "learn/feed/feed_batch.h"
#include "xshards/export.h"

namespace xshards::learn {

/// The batches made ahead of time: one thread puts, another takes.
///
/// It holds `wanted` batches, and of small ones as many as make up a few hundred KB. Once
/// it is full the producer sleeps until half of it is gone: where batches take less time
/// than waking a thread, it must not wake for each.
class XSHARDS_EXPORT BatchQueue {
 public:
  /// A batch, none after the last of an epoch, or why there is none.
  using Item = arrow::Result<std::optional<FeedBatch>>;

  explicit BatchQueue(int wanted) : wanted_(static_cast<size_t>(wanted)) {}

  /// Wait for room and put an item there; false if stopped meanwhile.
  bool Put(const std::stop_token& stop, Item item);
  /// Wait for the next item.
  Item Take();
  /// Drop everything. No thread may be putting.
  void Clear();

 private:
  bool full() const;

  const size_t wanted_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any half_empty_;
  std::condition_variable filled_;
  std::deque<std::pair<Item, int64_t>> ready_;  // with their bytes
  int64_t num_bytes_ = 0;                       // of ready_
  size_t resume_at_ = 0;  // items left when a sleeping producer goes on
};

}  // namespace xshards::learn
