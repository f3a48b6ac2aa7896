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

/// The prefetched batches: one thread puts, another takes.
///
/// It holds `wanted` batches, or more small ones, up to a few hundred KB. When it is full
/// the producer sleeps until half of it is taken: if making a batch takes less time than
/// waking a thread, it must not wake for each.
class XSHARDS_EXPORT BatchQueue {
 public:
  /// A batch, nullopt after the last of an epoch, or an error.
  using Item = arrow::Result<std::optional<FeedBatch>>;

  explicit BatchQueue(int wanted) : wanted_(static_cast<size_t>(wanted)) {}

  /// Wait for room and put an item; false if stopped meanwhile.
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
  size_t resume_at_ = 0;  // number of items at which a sleeping producer resumes
};

}  // namespace xshards::learn
