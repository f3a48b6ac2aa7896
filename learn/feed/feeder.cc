// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/feeder.h"

#include <limits>
#include <utility>

#include "learn/feed/batch_reader.h"

namespace xshards::learn {

arrow::Status FeedOptions::Validate() const {
  if (batch_size < 1) {
    return arrow::Status::Invalid("batch_size must be at least 1, got ", batch_size);
  }
  if (num_replicas < 1 || replica < 0 || replica >= num_replicas) {
    return arrow::Status::Invalid("there is no replica ", replica, " of ", num_replicas);
  }
  if (order.window_rows < 1 || order.window_rows > std::numeric_limits<uint32_t>::max()) {
    return arrow::Status::Invalid("a shuffle window has 1 to ",
                                  std::numeric_limits<uint32_t>::max(), " rows, got ",
                                  order.window_rows);
  }
  if (prefetch < 1) {
    return arrow::Status::Invalid("prefetch must be at least 1 batch, got ", prefetch);
  }
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<Feeder>> Feeder::Make(
    const std::vector<Partition>& partitions, FeedOptions options,
    arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(auto source, RowSource::Make(partitions, options.tensors, pool));
  return std::unique_ptr<Feeder>(new Feeder(std::move(source), std::move(options), pool));
}

Feeder::Feeder(RowSource source, FeedOptions options, arrow::MemoryPool* pool)
    : options_(std::move(options)),
      pool_(pool),
      source_(std::move(source)),
      plan_{.num_rows = source_.num_rows(),
            .batch_size = options_.batch_size,
            .num_replicas = options_.num_replicas} {}

Feeder::~Feeder() { Stop(); }

void Feeder::Start(int64_t epoch, int64_t first_step) {
  Stop();
  ended_ = false;
  thread_ = std::jthread([this, epoch, first_step](const std::stop_token& stop) {
    MakeBatches(stop, epoch, first_step);
  });
}

arrow::Result<std::optional<FeedBatch>> Feeder::Next() {
  if (ended_) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty(); });
  auto batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  ended_ = !batch.ok() || !batch->has_value();
  return batch;
}

void Feeder::Stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  ready_.clear();
}

void Feeder::MakeBatches(const std::stop_token& stop, int64_t epoch, int64_t first_step) {
  BatchReader reader(&source_, EpochOrder(source_.piece_rows(), options_.order, epoch),
                     pool_);
  for (int64_t step = first_step; step < plan_.num_steps(); ++step) {
    const auto share = plan_.ShareOf(options_.replica, step);
    auto rows = reader.Read(share.begin, share.end);
    if (!rows.ok()) {
      Put(stop, rows.status());
      return;
    }
    FeedBatch batch{step, plan_.StepRows(step), rows.MoveValueUnsafe()};
    if (!Put(stop, std::optional(std::move(batch)))) return;
  }
  Put(stop, std::nullopt);
}

bool Feeder::Put(const std::stop_token& stop,
                 arrow::Result<std::optional<FeedBatch>> batch) {
  std::unique_lock lock(mutex_);
  const auto room = [this] {
    return ready_.size() < static_cast<size_t>(options_.prefetch);
  };
  if (!changed_.wait(lock, stop, room)) return false;
  ready_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

}  // namespace xshards::learn
