// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/batch_queue.h"

namespace xshards::learn {

namespace {

constexpr int64_t kSmallBytes = 256 * 1024;
// A batch has 0 bytes if the replica has no rows in it.
constexpr size_t kMostBatches = 64;

int64_t NumBytes(const BatchQueue::Item& item) {
  if (!item.ok() || !item->has_value()) return 0;
  int64_t bytes = 0;
  for (const Tensor& tensor : (*item)->rows.tensors) bytes += tensor.data->size();
  return bytes;
}

}  // namespace

bool BatchQueue::full() const {
  if (ready_.size() < wanted_) return false;
  return num_bytes_ >= kSmallBytes || ready_.size() >= kMostBatches;
}

bool BatchQueue::Put(const std::stop_token& stop, Item item) {
  const int64_t bytes = NumBytes(item);
  std::unique_lock lock(mutex_);
  if (full()) {
    resume_at_ = ready_.size() / 2;
    if (!half_empty_.wait(lock, stop, [this] { return ready_.size() <= resume_at_; })) {
      return false;
    }
  }
  ready_.emplace_back(std::move(item), bytes);
  num_bytes_ += bytes;
  lock.unlock();
  filled_.notify_one();
  return true;
}

BatchQueue::Item BatchQueue::Take() {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [this] { return !ready_.empty(); });
  auto [item, bytes] = std::move(ready_.front());
  ready_.pop_front();
  num_bytes_ -= bytes;
  const bool half_empty = ready_.size() == resume_at_;
  lock.unlock();
  if (half_empty) half_empty_.notify_one();
  return std::move(item);
}

void BatchQueue::Clear() {
  std::lock_guard lock(mutex_);
  ready_.clear();
  num_bytes_ = 0;
}

}  // namespace xshards::learn
